-- Which hosts run which build of a library, and what does it take there? A build that is slower than another is one without optimisation,
-- or for another processor.
WITH
  mapped AS (
    SELECT m.profile_id, b.dso, b.build_id
    FROM mappings m
    JOIN binaries b ON b.binary_id = m.binary_id
    WHERE b.dso = 'libcodec.so'
    GROUP BY m.profile_id, b.dso, b.build_id
  ),
  taken AS (
    SELECT profile_id, sum(CASE WHEN dso = 'libcodec.so' THEN period ELSE 0 END) AS period, sum(period) AS whole
    FROM samples
    GROUP BY profile_id
  )
SELECT m.dso, substr(m.build_id, 1, 12) AS build, p.service, count(DISTINCT p.host) AS hosts,
       min(p.host) AS one_of_them, 100.0 * sum(t.period) / sum(t.whole) AS percent
FROM mapped m
JOIN taken t ON t.profile_id = m.profile_id
JOIN profiles p ON p.profile_id = m.profile_id
GROUP BY m.dso, m.build_id, p.service
ORDER BY percent DESC, p.service
