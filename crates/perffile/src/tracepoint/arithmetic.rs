//! C's binary operators on integers (C standard, 6.5.5 to 6.5.12).

use super::c_type::Number;
use super::errors::EvalError;
use super::expr::BinaryOperator;

/// Operators whose operands are always evaluated, both.
pub(crate) fn arithmetic(operator: BinaryOperator, left: Number, right: Number) -> Result<Number, EvalError> {
    if matches!(operator, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight) {
        return Ok(shift(operator, left, right));
    }
    let common = left.int_type.common(right.int_type);
    let (one, two) = (Number::new(left.bits, common).bits, Number::new(right.bits, common).bits);
    let order = if common.signed { one.cast_signed().cmp(&two.cast_signed()) } else { one.cmp(&two) };
    let bits = match operator {
        BinaryOperator::BitOr => one | two,
        BinaryOperator::BitXor => one ^ two,
        BinaryOperator::BitAnd => one & two,
        BinaryOperator::Add => one.wrapping_add(two),
        BinaryOperator::Subtract => one.wrapping_sub(two),
        BinaryOperator::Multiply => one.wrapping_mul(two),
        BinaryOperator::Divide | BinaryOperator::Remainder if two == 0 => return Err(EvalError::Undefined),
        BinaryOperator::Divide if common.signed => {
            one.cast_signed().wrapping_div(two.cast_signed()).cast_unsigned()
        }
        BinaryOperator::Divide => one / two,
        BinaryOperator::Remainder if common.signed => {
            one.cast_signed().wrapping_rem(two.cast_signed()).cast_unsigned()
        }
        BinaryOperator::Remainder => one % two,
        BinaryOperator::Equal => return Ok(Number::truth(order.is_eq())),
        BinaryOperator::Unequal => return Ok(Number::truth(order.is_ne())),
        BinaryOperator::Less => return Ok(Number::truth(order.is_lt())),
        BinaryOperator::LessEqual => return Ok(Number::truth(order.is_le())),
        BinaryOperator::Greater => return Ok(Number::truth(order.is_gt())),
        BinaryOperator::GreaterEqual => return Ok(Number::truth(order.is_ge())),
        // Decided before.
        BinaryOperator::Or | BinaryOperator::And | BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
            0
        }
    };
    Ok(Number::new(bits, common))
}

/// The result has the type of the left operand. Counts beyond the width are undefined in C: here they are cut to it.
fn shift(operator: BinaryOperator, left: Number, right: Number) -> Number {
    let int = left.int_type.promoted();
    let width = u64::from(int.size) * 8;
    let count = u32::try_from(right.bits % width.max(1)).unwrap_or(0);
    let bits = match (operator, int.signed) {
        (BinaryOperator::ShiftLeft, _) => left.bits.wrapping_shl(count),
        (_, true) => left.bits.cast_signed().wrapping_shr(count).cast_unsigned(),
        (_, false) => left.bits.wrapping_shr(count),
    };
    Number::new(bits, int)
}
