-- Samples in the first seconds of all recordings.
SELECT second, sum(samples) AS samples FROM timeline GROUP BY second ORDER BY second LIMIT 10
