-- What was recorded of each service.
SELECT p.service, count(DISTINCT p.host) AS hosts, count(DISTINCT p.profile_id) AS recordings, sum(p.samples) AS samples
FROM profiles p GROUP BY p.service ORDER BY p.service
