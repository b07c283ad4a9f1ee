-- Where the time goes.
SELECT function, sum(self_samples) AS samples, sum(self_period) AS period
FROM functions GROUP BY function ORDER BY period DESC, function LIMIT 10
