//! What the reader can leave out: conditions of a query on samples that a filter of the reader can say. The query asks them again, so a
//! filter may let too much through, never too little.

use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use datafusion::scalar::ScalarValue;
use readperf_profile::SampleFilter;
use readperf_tables::Table;
use std::ops::RangeInclusive;

/// The filter for a scan of a table with these conditions.
pub(crate) fn sample_filter(table: Table, conditions: &[Expr]) -> SampleFilter {
    let mut filter = SampleFilter::default();
    if table != Table::Samples {
        return filter;
    }
    for condition in conditions.iter().flat_map(split_conjunction) {
        // Of several lists for one column the first is kept: each alone lets enough through.
        match condition {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                if let (Some(column), Some(value)) = (column(left), number(right)) {
                    compared(&mut filter, column, *op, value);
                } else if let (Some(column), Operator::Eq, Some(value)) = (column(left), op, text(right)) {
                    one_of(&mut filter, column, &[value]);
                } else if let (Some(value), Some(column)) = (number(left), column(right)) {
                    op.swap().into_iter().for_each(|op| compared(&mut filter, column, op, value));
                }
            }
            Expr::Between(Between { expr, negated: false, low, high }) => {
                if let (Some("time_ns"), Some(low), Some(high)) = (column(expr), number(low), number(high)) {
                    within(&mut filter, low..=high);
                }
            }
            Expr::InList(list) if !list.negated => {
                let Some(column) = column(&list.expr) else { continue };
                let numbers: Option<Vec<u64>> = list.list.iter().map(number).collect();
                let texts: Option<Vec<&str>> = list.list.iter().map(text).collect();
                if let Some(numbers) = numbers {
                    numbered(&mut filter, column, &numbers);
                } else if let Some(texts) = texts {
                    one_of(&mut filter, column, &texts);
                }
            }
            _ => (),
        }
    }
    filter
}

fn compared(filter: &mut SampleFilter, column: &str, operator: Operator, value: u64) {
    match (column, operator) {
        (_, Operator::Eq) if column != "time_ns" => numbered(filter, column, &[value]),
        ("time_ns", Operator::Eq) => within(filter, value..=value),
        ("time_ns", Operator::Gt | Operator::GtEq) => within(filter, value..=u64::MAX),
        ("time_ns", Operator::Lt | Operator::LtEq) => within(filter, 0..=value),
        _ => (),
    }
}

/// Narrows the time.
fn within(filter: &mut SampleFilter, range: RangeInclusive<u64>) {
    let narrowed = match filter.times_ns.as_slice() {
        [] => range,
        // Times that exclude each other: the query finds nothing by itself.
        [known, ..] => *known.start().max(range.start())..=*known.end().min(range.end()),
    };
    filter.times_ns = vec![narrowed];
}

fn numbered(filter: &mut SampleFilter, column: &str, values: &[u64]) {
    let small: Option<Vec<u32>> = values.iter().map(|&value| u32::try_from(value).ok()).collect();
    let Some(small) = small.filter(|small| !small.is_empty()) else { return };
    match column {
        "pid" if filter.pids.is_empty() => filter.pids = small,
        "tid" if filter.tids.is_empty() => filter.tids = small,
        "cpu" if filter.cpus.is_empty() => filter.cpus = small.into_iter().map(|cpu| cpu..=cpu).collect(),
        _ => (),
    }
}

fn one_of(filter: &mut SampleFilter, column: &str, values: &[&str]) {
    match column {
        "event" if filter.events.is_empty() => {
            filter.events = values.iter().map(|&name| name.into()).collect()
        }
        _ => (),
    }
}

/// The column that an expression is, also where its values are converted for a comparison.
fn column(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Column(column) => Some(column.name()),
        Expr::Cast(cast) => column(&cast.expr),
        Expr::TryCast(cast) => column(&cast.expr),
        _ => None,
    }
}

fn number(expression: &Expr) -> Option<u64> {
    match expression {
        Expr::Literal(ScalarValue::Int64(value), _) => u64::try_from((*value)?).ok(),
        Expr::Literal(ScalarValue::Int32(value), _) => u64::try_from((*value)?).ok(),
        Expr::Literal(ScalarValue::UInt64(value), _) => *value,
        _ => None,
    }
}

fn text(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Literal(
            ScalarValue::Utf8(value) | ScalarValue::Utf8View(value) | ScalarValue::LargeUtf8(value),
            _,
        ) => value.as_deref(),
        Expr::Literal(ScalarValue::Dictionary(_, value), _) => match value.as_ref() {
            ScalarValue::Utf8(value) => value.as_deref(),
            _ => None,
        },
        Expr::Cast(cast) => text(&cast.expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::logical_expr::{col, lit};

    fn filter(condition: Expr) -> SampleFilter {
        sample_filter(Table::Samples, &[condition])
    }

    #[test]
    fn processes_threads_and_cpus_go_to_the_reader() {
        let condition = col("pid").eq(lit(5i32)).and(col("tid").in_list(vec![lit(6i64), lit(7i64)], false));
        let wanted =
            SampleFilter { pids: vec![5], tids: vec![6, 7], cpus: vec![3..=3], ..SampleFilter::default() };
        assert_eq!(filter(condition.and(lit(3i64).eq(col("cpu")))), wanted);
    }

    #[test]
    fn times_narrow_each_other() {
        let condition = col("time_ns").gt_eq(lit(10i64)).and(col("time_ns").lt(lit(20i64)));
        assert_eq!(filter(condition).times_ns, [10..=20]);
        assert_eq!(filter(lit(10i64).lt(col("time_ns"))).times_ns, [10..=u64::MAX]);
        assert_eq!(filter(col("time_ns").between(lit(1i64), lit(2i64))).times_ns, [1..=2]);
    }

    #[test]
    fn what_the_reader_cannot_say_is_left_to_the_query() {
        for condition in [
            col("pid").eq(lit(5i64)).or(col("tid").eq(lit(6i64))),
            col("pid").not_eq(lit(5i64)),
            col("pid").eq(lit(-5i64)),
            col("pid").gt(lit(5i64)),
            col("pid").in_list(vec![lit(5i64)], true),
            col("pid").eq(col("tid")),
            col("comm").like(lit("a%")),
        ] {
            assert!(filter(condition.clone()).is_open(), "{condition}");
        }
        assert!(sample_filter(Table::Threads, &[col("pid").eq(lit(5i64))]).is_open());
    }
}
