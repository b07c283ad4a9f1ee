//! The order of an answer. The same question gets the same bytes: where `ORDER BY` leaves rows in any order, all columns decide, so
//! that `LIMIT` cuts the same rows each time. What only picks rows and columns keeps the order of the recording.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, SortExpr};
use std::sync::Arc;

/// Whether rows come as they lie in the tables: nothing of the plan needs them together.
pub(crate) fn is_as_recorded(plan: &LogicalPlan) -> Result<bool> {
    let mut is_plain = true;
    plan.apply(|node| {
        is_plain &= matches!(
            node,
            LogicalPlan::Projection(_)
                | LogicalPlan::Filter(_)
                | LogicalPlan::TableScan(_)
                | LogicalPlan::Limit(_)
                | LogicalPlan::SubqueryAlias(_)
                | LogicalPlan::EmptyRelation(_)
                | LogicalPlan::Values(_)
        );
        Ok(if is_plain { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    })?;
    Ok(is_plain)
}

/// The plan with an order in which no two different rows are equal.
pub(crate) fn settled(plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Limit(mut limit) => {
            limit.input = Arc::new(settled(Arc::unwrap_or_clone(limit.input))?);
            Ok(LogicalPlan::Limit(limit))
        }
        LogicalPlan::Sort(mut sort) => {
            let rest = all_columns(sort.input.schema(), &sort.expr);
            sort.expr.extend(rest);
            Ok(LogicalPlan::Sort(sort))
        }
        // Columns that are ordered by and not shown.
        LogicalPlan::Projection(mut projection)
            if matches!(*projection.input, LogicalPlan::Sort(_) | LogicalPlan::Limit(_)) =>
        {
            projection.input = Arc::new(settled(Arc::unwrap_or_clone(projection.input))?);
            Ok(LogicalPlan::Projection(projection))
        }
        LogicalPlan::Explain(_) | LogicalPlan::Analyze(_) | LogicalPlan::DescribeTable(_) => Ok(plan),
        plan if plan.schema().fields().is_empty() => Ok(plan),
        plan => {
            let columns = all_columns(plan.schema(), &[]);
            if columns.is_empty() { Ok(plan) } else { LogicalPlanBuilder::from(plan).sort(columns)?.build() }
        }
    }
}

/// Columns that can be compared and that the order does not name yet.
fn all_columns(schema: &DFSchema, named: &[SortExpr]) -> Vec<SortExpr> {
    let columns = schema.iter().filter(|(_, field)| is_ordered(field.data_type()));
    let columns = columns.map(|column| Expr::Column(Column::from(column)));
    let columns = columns.filter(|column| named.iter().all(|sort| sort.expr != *column));
    columns.map(|column| column.sort(true, false)).collect()
}

fn is_ordered(kind: &DataType) -> bool {
    !matches!(kind, DataType::Map(..) | DataType::Union(..))
}
