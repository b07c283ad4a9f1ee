-- A time in which a thread had no CPU: from when it gave one up until it got one again.
-- profile_id: The recording.
-- pid: Id of its process.
-- tid: Its id.
-- thread_id: The thread.
-- comm: Its name when it gave the CPU up.
-- from_ns [ns]: When it gave the CPU up.
-- to_ns [ns]: When it got one again; NULL if not while recording.
-- off_ns [ns]: How long that was; NULL if it got none again.
-- preempted: Whether it still wanted to run.
SELECT profile_id, pid, tid, thread_id, comm, time_ns AS from_ns, next_ns AS to_ns, next_ns - time_ns AS off_ns, preempted
FROM (
  SELECT profile_id, pid, tid, thread_id, comm, time_ns, out, preempted,
         lead(time_ns) OVER (PARTITION BY profile_id, thread_id ORDER BY time_ns, out) AS next_ns
  FROM switches WHERE thread_id IS NOT NULL
)
WHERE out
