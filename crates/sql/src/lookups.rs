//! Functions that look something up in tables: `folded(stack_id)` and `contains(stack_id, pattern)`. Each becomes a join with a
//! subquery, so that they work wherever joins do, also on a cluster, and only what is asked for is made.

use crate::error::{Error, Result};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{JoinType, plan_err};
use datafusion::error::Result as Planned;
use datafusion::functions::string::contains as contains_text;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable as _, LogicalPlan, LogicalPlanBuilder, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility, col,
};
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use std::any::Any;

const FOLDED: &str = "folded";
const CONTAINS: &str = "contains";

/// A name that stands for a lookup until the plan is resolved.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Named {
    name: &'static str,
    signature: Signature,
    answer: DataType,
}

impl ScalarUDFImpl for Named {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Planned<DataType> {
        Ok(self.answer.clone())
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Planned<ColumnarValue> {
        let name = self.name;
        plan_err!("{name}(stack_id) can stand in SELECT, WHERE, GROUP BY and ORDER BY, and not here")
    }
}

/// Makes the functions known, so that queries with them can be planned.
pub(crate) fn register(context: &SessionContext) {
    // `contains` of two texts goes on to be the one of DataFusion.
    for (name, arguments, answer) in [(FOLDED, 1, DataType::Utf8), (CONTAINS, 2, DataType::Boolean)] {
        let signature = Signature::any(arguments, Volatility::Stable);
        context.register_udf(ScalarUDF::from(Named { name, signature, answer }));
    }
}

/// A call of such a function.
#[derive(Clone, Debug, PartialEq)]
struct Call {
    /// The stack that is looked up.
    stack: Expr,
    /// What functions are looked for; nothing for `folded`.
    pattern: Option<String>,
}

impl Call {
    /// The call that an expression is.
    fn of(expression: &Expr) -> Option<Result<Call>> {
        let Expr::ScalarFunction(ScalarFunction { func, args }) = expression else { return None };
        // DataFusion has a function of one of the names, too.
        let any: &dyn Any = func.inner().as_ref();
        if !any.is::<Named>() {
            return None;
        }
        match (func.name(), args.as_slice()) {
            (FOLDED, [stack]) => Some(Ok(Call { stack: stack.clone(), pattern: None })),
            (CONTAINS, [stack, pattern]) => {
                Some(text(pattern).map(|pattern| Call { stack: stack.clone(), pattern: Some(pattern) }))
            }
            _ => None,
        }
    }

    /// What it is joined with: the stacks that have an answer, under `stack_id`, and the answer.
    async fn table(&self, context: &SessionContext) -> Planned<LogicalPlan> {
        let query = match &self.pattern {
            None => "SELECT stack_id, folded AS answer FROM stack_text".to_owned(),
            Some(pattern) => format!(
                "SELECT DISTINCT stack_id, true AS answer FROM stack_functions WHERE regexp_like(function, '{}')",
                pattern.replace('\'', "''")
            ),
        };
        context.state().create_logical_plan(&query).await
    }

    /// Its value, where it has been joined under a name.
    fn answer(&self, alias: &str) -> Expr {
        let answer = col(format!("{alias}.answer"));
        if self.pattern.is_some() { answer.is_not_null() } else { answer }
    }
}

/// The pattern that a call has.
fn text(pattern: &Expr) -> Result<String> {
    let (Expr::Literal(ScalarValue::Utf8(Some(text)), _)
    | Expr::Literal(ScalarValue::Utf8View(Some(text)), _)) = pattern
    else {
        return Err(Error::said("contains(stack_id, pattern): the pattern has to be a text in quotes"));
    };
    regex::Regex::new(text).map_err(|error| Error::said(format!("contains(stack_id, pattern): {error}")))?;
    Ok(text.clone())
}

/// A call with what it is joined with.
struct Joined {
    call: Call,
    alias: String,
    table: LogicalPlan,
}

/// The plan with joins in the place of these functions.
pub(crate) async fn resolved(context: &SessionContext, plan: LogicalPlan) -> Result<LogicalPlan> {
    let plan = plan.transform_up_with_subqueries(with_text_functions).data()?;
    let mut joined: Vec<Joined> = Vec::new();
    for (nr, call) in calls(&plan)?.into_iter().enumerate() {
        joined.push(Joined { alias: format!("__lookup_{nr}"), table: call.table(context).await?, call });
    }
    if joined.is_empty() {
        return Ok(plan);
    }
    Ok(plan.transform_up_with_subqueries(|node| with_joins(node, &joined)).data()?)
}

/// Every call of a plan, each once.
fn calls(plan: &LogicalPlan) -> Result<Vec<Call>> {
    let mut calls = Vec::new();
    let mut wrong = None;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                match Call::of(part) {
                    Some(Ok(call)) if !calls.contains(&call) => calls.push(call),
                    Some(Err(error)) => wrong = Some(error),
                    _ => (),
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    wrong.map_or(Ok(calls), Err)
}

/// `contains` of texts as DataFusion has it.
fn with_text_functions(node: LogicalPlan) -> Planned<Transformed<LogicalPlan>> {
    let columns = merge_schema(&node.inputs());
    let names = NamePreserver::new(&node);
    node.map_expressions(|expression| {
        let name = names.save(&expression);
        let changed = expression.transform_up(|part| match &part {
            Expr::ScalarFunction(call) if call.func.name() == CONTAINS => match call.args.as_slice() {
                [text, part] if !text.get_type(&columns)?.is_integer() => {
                    Ok(Transformed::yes(contains_text().call(vec![text.clone(), part.clone()])))
                }
                _ => Ok(Transformed::no(part)),
            },
            _ => Ok(Transformed::no(part)),
        })?;
        Ok(changed.update_data(|changed| name.restore(changed)))
    })
}

/// A node whose input is joined with what its calls look up.
fn with_joins(node: LogicalPlan, joined: &[Joined]) -> Planned<Transformed<LogicalPlan>> {
    let used: Vec<&Joined> = joined.iter().filter(|joined| uses(&node, &joined.call)).collect();
    let inputs = node.inputs();
    let (false, [input]) = (used.is_empty(), inputs.as_slice()) else { return Ok(Transformed::no(node)) };
    let mut wide = LogicalPlanBuilder::from((*input).clone());
    for Joined { call, alias, table } in &used {
        let right = LogicalPlanBuilder::from(table.clone()).alias(alias.as_str())?.build()?;
        let keys = (vec![call.stack.clone()], vec![col(format!("{alias}.stack_id"))]);
        wide = wide.join_with_expr_keys(right, JoinType::Left, keys, None)?;
    }
    let names = NamePreserver::new(&node);
    let expressions = node.expressions().into_iter().map(|expression| {
        let name = names.save(&expression);
        let changed = expression.transform_up(|part| {
            let answer = match Call::of(&part) {
                Some(Ok(call)) => {
                    used.iter().find(|used| used.call == call).map(|used| call.answer(&used.alias))
                }
                _ => None,
            };
            Ok(answer.map_or_else(|| Transformed::no(part), Transformed::yes))
        })?;
        Ok(name.restore(changed.data))
    });
    let expressions = expressions.collect::<Planned<Vec<_>>>()?;
    let is_same_width = matches!(node, LogicalPlan::Filter(_) | LogicalPlan::Sort(_));
    let columns = node.schema().columns();
    let changed = node.with_new_exprs(expressions, vec![wide.build()?])?;
    if !is_same_width {
        return Ok(Transformed::yes(changed));
    }
    // The columns that were joined are for this node alone.
    let columns = columns.into_iter().map(Expr::Column);
    Ok(Transformed::yes(LogicalPlanBuilder::from(changed).project(columns)?.build()?))
}

fn uses(node: &LogicalPlan, call: &Call) -> bool {
    node.expressions().iter().any(|expression| {
        expression
            .exists(|part| Ok(matches!(Call::of(part), Some(Ok(found)) if found == *call)))
            .unwrap_or(false)
    })
}
