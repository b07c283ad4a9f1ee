-- Names of threads, how many there are and what they amount to.
SELECT comm, count(*) AS threads, sum(samples) AS samples
FROM thread_totals GROUP BY comm ORDER BY samples DESC, comm LIMIT 10
