-- The tables that `readperf export --format parquet -o DIR` writes, and the views of `readperf sql`, in Spark SQL.
--
--   spark-sql -f views.sql --conf spark.tables=DIR
--
-- then ask, in the same session. In Python: spark.conf.set("spark.tables", "DIR"), and each statement of this file to spark.sql.
-- Spark finds out columns and partitions (`service`, `date`) by itself. A table that a folder does not have is an error when it is asked for, not before.
--
-- Made by make.py from crates/sql/src/views; change these.

CREATE OR REPLACE TEMPORARY VIEW profiles AS
SELECT * FROM parquet.`${spark.tables}/profiles`;

CREATE OR REPLACE TEMPORARY VIEW events AS
SELECT * FROM parquet.`${spark.tables}/events`;

CREATE OR REPLACE TEMPORARY VIEW samples AS
SELECT * FROM parquet.`${spark.tables}/samples`;

CREATE OR REPLACE TEMPORARY VIEW mappings AS
SELECT * FROM parquet.`${spark.tables}/mappings`;

CREATE OR REPLACE TEMPORARY VIEW threads AS
SELECT * FROM parquet.`${spark.tables}/threads`;

CREATE OR REPLACE TEMPORARY VIEW switches AS
SELECT * FROM parquet.`${spark.tables}/switches`;

CREATE OR REPLACE TEMPORARY VIEW counters AS
SELECT * FROM parquet.`${spark.tables}/counters`;

CREATE OR REPLACE TEMPORARY VIEW trace_fields AS
SELECT * FROM parquet.`${spark.tables}/trace_fields`;

-- Rows that several recordings bring along: one of each.

CREATE OR REPLACE TEMPORARY VIEW stacks AS
SELECT * EXCEPT (copy)
FROM (SELECT *, row_number() OVER (PARTITION BY stack_id ORDER BY stack_id) AS copy FROM parquet.`${spark.tables}/stacks`)
WHERE copy = 1;

CREATE OR REPLACE TEMPORARY VIEW frames AS
SELECT * EXCEPT (copy)
FROM (SELECT *, row_number() OVER (PARTITION BY frame_id ORDER BY frame_id) AS copy FROM parquet.`${spark.tables}/frames`)
WHERE copy = 1;

CREATE OR REPLACE TEMPORARY VIEW frame_levels AS
SELECT * EXCEPT (copy)
FROM (SELECT *, row_number() OVER (PARTITION BY frame_id, level ORDER BY frame_id, level) AS copy FROM parquet.`${spark.tables}/frame_levels`)
WHERE copy = 1;

CREATE OR REPLACE TEMPORARY VIEW symbols AS
SELECT * EXCEPT (copy)
FROM (SELECT *, row_number() OVER (PARTITION BY function_id ORDER BY function_id) AS copy FROM parquet.`${spark.tables}/symbols`)
WHERE copy = 1;

CREATE OR REPLACE TEMPORARY VIEW binaries AS
SELECT * EXCEPT (copy)
FROM (SELECT *, row_number() OVER (PARTITION BY binary_id ORDER BY binary_id) AS copy FROM parquet.`${spark.tables}/binaries`)
WHERE copy = 1;

-- A frame of a stack.
-- stack_id: The stack.
-- depth: How deep, from 1, the innermost.
-- frame_id: The frame.
CREATE OR REPLACE TEMPORARY VIEW stack_frames AS
SELECT stack_id, place + 1 AS depth, frame_id
FROM stacks LATERAL VIEW posexplode(frame_ids) exploded AS place, frame_id;

-- A level of a stack: a frame, or a function that is inlined there.
-- stack_id: The stack.
-- depth: Which frame, from 1, the innermost.
-- level: Which level of the frame, from 0, the innermost.
-- inlined: Whether the function is inlined into that of the next level.
-- function_id: The function.
-- function: Its name; NULL where there is none.
-- file: Source file.
-- line: Line in it.
CREATE OR REPLACE TEMPORARY VIEW stack_levels AS
SELECT f.stack_id, f.depth, l.level, l.inlined, l.function_id, l.function, l.file, l.line
FROM stack_frames f JOIN frame_levels l ON l.frame_id = f.frame_id;

-- A function that a stack has, each once: recursion counts once. Where it is inlined is another row than its own code.
-- stack_id: The stack.
-- function_id: The function.
-- function: Its name; NULL where there is none.
-- inlined: Whether it is inlined there.
CREATE OR REPLACE TEMPORARY VIEW stack_functions AS
SELECT DISTINCT stack_id, function_id, function, inlined FROM stack_levels;

-- A stack as a line of text: names from the outermost function to the innermost, with a semicolon between. Where there is no name, that of
-- the binary stands in brackets.
-- stack_id: The stack.
-- folded: The text.
CREATE OR REPLACE TEMPORARY VIEW stack_text AS
SELECT stack_id, array_join(transform(array_sort(collect_list(struct(-depth AS d, -level AS l, name))), part -> part.name), ';') AS folded
FROM (
  SELECT l.stack_id, l.depth, l.level, coalesce(s.function, concat('0x', lower(hex(s.address)))) AS name
  FROM stack_levels l JOIN symbols s ON s.function_id = l.function_id
)
GROUP BY stack_id;

-- A function with what it amounts to, for each event. What was taken in inlined functions is the own part of the function that they are
-- inlined into; in its stacks they are functions of their own.
-- event: Name of the event.
-- function_id: The function.
-- function: Its name; NULL where there is none.
-- inlined: Whether the row is about where it is inlined; its own code has another one.
-- dso: Short name of the binary it is in.
-- address: The address of code without a name, as bits.
-- self_samples: Samples that were taken in its code, as the symbol table has it.
-- self_period [of the event]: Sum of their periods.
-- total_samples: Samples that have it anywhere in their stacks, each once.
-- total_period [of the event]: Sum of their periods.
CREATE OR REPLACE TEMPORARY VIEW functions AS
WITH
  taken AS (
    SELECT event, stack_id, function_id, count(*) AS samples, sum(period) AS period FROM samples
    GROUP BY event, stack_id, function_id
  ),
  self AS (
    SELECT event, function_id, sum(samples) AS samples, sum(period) AS period FROM taken GROUP BY event, function_id
  ),
  -- With precise events, a sample may be taken in code that its stack does not have: the stack is of a moment later.
  counted AS (
    SELECT t.event, f.function_id, f.inlined, t.samples, t.period
    FROM taken t JOIN stack_functions f ON f.stack_id = t.stack_id
    UNION ALL
    SELECT t.event, t.function_id, FALSE AS inlined, t.samples, t.period
    FROM taken t
    LEFT JOIN stack_functions f ON f.stack_id = t.stack_id AND f.function_id = t.function_id AND NOT f.inlined
    WHERE f.stack_id IS NULL AND t.function_id IS NOT NULL
  ),
  total AS (
    SELECT event, function_id, inlined, sum(samples) AS samples, sum(period) AS period
    FROM counted
    GROUP BY event, function_id, inlined
  )
SELECT total.event, total.function_id, s.function, total.inlined, s.dso, s.address,
       coalesce(self.samples, 0) AS self_samples, coalesce(self.period, 0) AS self_period,
       total.samples AS total_samples, total.period AS total_period
FROM total
JOIN symbols s ON s.function_id = total.function_id
LEFT JOIN self
  ON self.function_id = total.function_id AND NOT total.inlined AND self.event IS NOT DISTINCT FROM total.event;

-- A function and one that called it, for each event. A sample counts once a pair, however often the pair is in its stack.
-- event: Name of the event.
-- function: The function that was called; NULL where there is no name.
-- caller: The function that called it; NULL where there is no name.
-- function_id: The function that was called.
-- caller_id: The function that called it.
-- samples: Samples with this call in their stacks.
-- period [of the event]: Sum of their periods.
CREATE OR REPLACE TEMPORARY VIEW callers AS
WITH
  placed AS (
    SELECT stack_id, function_id, function,
           row_number() OVER (PARTITION BY stack_id ORDER BY depth, level) AS place
    FROM stack_levels
  ),
  calls AS (
    SELECT DISTINCT inner_.stack_id, inner_.function_id, inner_.function,
           outer_.function_id AS caller_id, outer_.function AS caller
    FROM placed inner_
    JOIN placed outer_ ON outer_.stack_id = inner_.stack_id AND outer_.place = inner_.place + 1
  ),
  taken AS (
    SELECT event, stack_id, count(*) AS samples, sum(period) AS period FROM samples GROUP BY event, stack_id
  )
SELECT t.event, c.function, c.caller, c.function_id, c.caller_id,
       sum(t.samples) AS samples, sum(t.period) AS period
FROM taken t JOIN calls c ON c.stack_id = t.stack_id
GROUP BY t.event, c.function, c.caller, c.function_id, c.caller_id;

-- A function and one that it called, for each event: `callers` the other way round.
-- event: Name of the event.
-- function: The function that called; NULL where there is no name.
-- callee: The function that it called; NULL where there is no name.
-- function_id: The function that called.
-- callee_id: The function that it called.
-- samples: Samples with this call in their stacks.
-- period [of the event]: Sum of their periods.
CREATE OR REPLACE TEMPORARY VIEW callees AS
SELECT event, caller AS function, function AS callee, caller_id AS function_id, function_id AS callee_id, samples, period
FROM callers;

-- A source line with the samples that were taken in its code, for each event.
-- event: Name of the event.
-- file: Source file; NULL where it is not known.
-- line: Line in it, from 1; NULL where it is not known.
-- function: The innermost function there, inlined or not.
-- samples: Samples that were taken there.
-- period [of the event]: Sum of their periods.
CREATE OR REPLACE TEMPORARY VIEW lines AS
WITH taken AS (
  SELECT event, frame_id, count(*) AS samples, sum(period) AS period FROM samples GROUP BY event, frame_id
)
SELECT t.event, l.file, l.line, l.function, sum(t.samples) AS samples, sum(t.period) AS period
FROM taken t JOIN frame_levels l ON l.frame_id = t.frame_id AND l.level = 0
GROUP BY t.event, l.file, l.line, l.function;

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
CREATE OR REPLACE TEMPORARY VIEW thread_totals AS
SELECT s.profile_id, s.event, t.pid, t.tid, s.thread_id, t.comm,
       count(*) AS samples, sum(s.period) AS period, min(s.time_ns) AS first_ns, max(s.time_ns) AS last_ns
FROM samples s LEFT JOIN threads t ON t.profile_id = s.profile_id AND t.thread_id = s.thread_id
GROUP BY s.profile_id, s.event, t.pid, t.tid, s.thread_id, t.comm;

-- A second of a recording with its samples, for each event.
-- profile_id: The recording.
-- event: Name of the event.
-- second: Which second, from 0, that of the first sample of the recording.
-- samples: Samples in it.
-- period [of the event]: Sum of their periods.
CREATE OR REPLACE TEMPORARY VIEW timeline AS
WITH begun AS (SELECT profile_id, min(time_ns) AS first_ns FROM samples GROUP BY profile_id)
SELECT s.profile_id, s.event, (s.time_ns - b.first_ns) DIV 1000000000 AS second,
       count(*) AS samples, sum(s.period) AS period
FROM samples s JOIN begun b ON b.profile_id = s.profile_id
WHERE s.time_ns IS NOT NULL
GROUP BY s.profile_id, s.event, (s.time_ns - b.first_ns) DIV 1000000000;

-- A function in two recordings, for each event that both have: every pair of recordings, so that WHERE names both of one.
-- base_id: The recording that is compared with.
-- profile_id: The recording that is looked at.
-- base: Where the first was read from.
-- source: Where the second was read from.
-- event: Name of the event.
-- function: The function, inlined or not; NULL where there is no name.
-- base_period [of the event]: Period of the samples that were taken in it, in the first.
-- period [of the event]: The same in the second.
-- base_percent [percent]: Its share of the event in the first.
-- percent [percent]: Its share of the event in the second.
-- change [percent points]: How much its share has grown.
CREATE OR REPLACE TEMPORARY VIEW differences AS
WITH
  taken AS (
    SELECT profile_id, event, frame_id, sum(period) AS period FROM samples GROUP BY profile_id, event, frame_id
  ),
  self AS (
    SELECT t.profile_id, t.event, l.function, sum(t.period) AS period
    FROM taken t JOIN frame_levels l ON l.frame_id = t.frame_id AND l.level = 0
    GROUP BY t.profile_id, t.event, l.function
  ),
  whole AS (SELECT profile_id, event, sum(period) AS period FROM samples GROUP BY profile_id, event),
  pairs AS (
    SELECT b.profile_id AS base_id, n.profile_id, b.event, b.period AS base_whole, n.period AS whole
    FROM whole b JOIN whole n ON n.event = b.event AND n.profile_id <> b.profile_id
  ),
  named AS (
    SELECT p.base_id, p.profile_id, p.event, p.base_whole, p.whole, s.function
    FROM pairs p JOIN self s ON s.event = p.event AND (s.profile_id = p.base_id OR s.profile_id = p.profile_id)
    GROUP BY p.base_id, p.profile_id, p.event, p.base_whole, p.whole, s.function
  ),
  counted AS (
    SELECT d.base_id, d.profile_id, d.event, d.function, d.base_whole, d.whole,
           coalesce(b.period, 0) AS base_period, coalesce(n.period, 0) AS period
    FROM named d
    LEFT JOIN self b ON b.profile_id = d.base_id AND b.event = d.event AND b.function IS NOT DISTINCT FROM d.function
    LEFT JOIN self n ON n.profile_id = d.profile_id AND n.event = d.event AND n.function IS NOT DISTINCT FROM d.function
  )
SELECT c.base_id, c.profile_id, b.source AS base, p.source, c.event, c.function, c.base_period, c.period,
       100.0 * c.base_period / c.base_whole AS base_percent,
       100.0 * c.period / c.whole AS percent,
       100.0 * c.period / c.whole - 100.0 * c.base_period / c.base_whole AS change
FROM counted c
JOIN profiles b ON b.profile_id = c.base_id
JOIN profiles p ON p.profile_id = c.profile_id;

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
CREATE OR REPLACE TEMPORARY VIEW off_cpu AS
SELECT profile_id, pid, tid, thread_id, comm, time_ns AS from_ns, next_ns AS to_ns, next_ns - time_ns AS off_ns, preempted
FROM (
  SELECT profile_id, pid, tid, thread_id, comm, time_ns, out, preempted,
         lead(time_ns) OVER (PARTITION BY profile_id, thread_id ORDER BY time_ns, out) AS next_ns
  FROM switches WHERE thread_id IS NOT NULL
)
WHERE out;

