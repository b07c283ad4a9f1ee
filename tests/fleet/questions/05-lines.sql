-- The hottest lines.
SELECT file, line, sum(samples) AS samples
FROM lines WHERE line IS NOT NULL GROUP BY file, line ORDER BY samples DESC, file, line LIMIT 10
