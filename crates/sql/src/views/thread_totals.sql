-- A thread with its samples, for each event.
-- profile_id: The recording.
-- event: Name of the event.
-- pid: Id of its process.
-- tid: Its id.
-- thread_id: The thread.
-- comm: Its last name.
-- samples: Its samples.
-- period [of the event]: Sum of their periods.
-- first_ns [ns]: Time of its first sample.
-- last_ns [ns]: Time of its last sample.
SELECT s.profile_id, s.event, t.pid, t.tid, s.thread_id, t.comm,
       count(*) AS samples, sum(s.period) AS period, min(s.time_ns) AS first_ns, max(s.time_ns) AS last_ns
FROM samples s LEFT JOIN threads t ON t.profile_id = s.profile_id AND t.thread_id = s.thread_id
GROUP BY s.profile_id, s.event, t.pid, t.tid, s.thread_id, t.comm
