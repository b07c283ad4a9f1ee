-- Which hosts run which build of a library?
SELECT b.dso, b.build_id, count(DISTINCT p.host) AS hosts, min(p.host) AS one_of_them
FROM mappings m
JOIN binaries b ON b.binary_id = m.binary_id
JOIN profiles p ON p.profile_id = m.profile_id
WHERE b.build_id IS NOT NULL
GROUP BY b.dso, b.build_id ORDER BY hosts DESC, b.dso, b.build_id LIMIT 10
