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
JOIN profiles p ON p.profile_id = c.profile_id
