-- A second of a recording with its samples, for each event.
-- profile_id: The recording.
-- event: Name of the event.
-- second: Which second, from 0, that of the first sample of the recording.
-- samples: Samples in it.
-- period [of the event]: Sum of their periods.
WITH begun AS (SELECT profile_id, min(time_ns) AS first_ns FROM samples GROUP BY profile_id)
SELECT s.profile_id, s.event, (s.time_ns - b.first_ns) / 1000000000 AS second,
       count(*) AS samples, sum(s.period) AS period
FROM samples s JOIN begun b ON b.profile_id = s.profile_id
WHERE s.time_ns IS NOT NULL
GROUP BY s.profile_id, s.event, (s.time_ns - b.first_ns) / 1000000000
