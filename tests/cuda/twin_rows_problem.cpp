// Every kernel of a fixed form, as a row: its name, its operands, how it is called.
#include "tests/cuda/twin_rows_problem.h"

namespace glass {
inline namespace GLASS_PRECISION {

static const TwinCase kCases[] = {
    {"add", "mmm", [](Backend& be, const Mat* v) { be.add(v[0], v[1], v[2]); }, true},
    {"sub", "mmm", [](Backend& be, const Mat* v) { be.sub(v[0], v[1], v[2]); }, true},
    {"mul", "mmm", [](Backend& be, const Mat* v) { be.mul(v[0], v[1], v[2]); }, true},
    {"div", "mmm", [](Backend& be, const Mat* v) { be.div(v[0], v[1], v[2]); }, true},
    {"scale", "mm", [](Backend& be, const Mat* v) { be.scale(v[0], Real(-1.7), v[1]); }, true},
    {"scale in place", "m", [](Backend& be, const Mat* v) { be.scale(v[0], Real(0.3), v[0]); }, true},
    {"add_scaled", "mm", [](Backend& be, const Mat* v) { be.add_scaled(Real(-1.7), v[0], v[1]); }},
    {"add_product", "mmm", [](Backend& be, const Mat* v) { be.add_product(v[0], v[1], v[2]); }},
    {"add_quotient", "mmm", [](Backend& be, const Mat* v) { be.add_quotient(v[0], v[1], v[2]); }},
    {"div_backward_left", "mmm", [](Backend& be, const Mat* v) { be.div_backward_left(v[0], v[1], v[2]); }},
    {"div_backward_right", "mmmm", [](Backend& be, const Mat* v) { be.div_backward_right(v[0], v[1], v[2], v[3]); }},
    {"maximum", "mmm", [](Backend& be, const Mat* v) { be.maximum(v[0], v[1], v[2]); }, true},
    {"maximum_backward", "mmmmm", [](Backend& be, const Mat* v) { be.maximum_backward(v[0], v[1], v[2], v[3], v[4]); },
     true},
    {"maximum_backward a", "mmmm", [](Backend& be, const Mat* v) { be.maximum_backward(v[0], v[1], v[2], v[3], {}); },
     true},
    {"maximum_backward b", "mmmm", [](Backend& be, const Mat* v) { be.maximum_backward(v[0], v[1], v[2], {}, v[3]); },
     true},
    {"pow", "mmm", [](Backend& be, const Mat* v) { be.pow(v[0], v[1], v[2]); }},
    {"pow_backward_left", "mmmm", [](Backend& be, const Mat* v) { be.pow_backward_left(v[0], v[1], v[2], v[3]); }},
    {"pow_backward_right", "mmmmm",
     [](Backend& be, const Mat* v) { be.pow_backward_right(v[0], v[1], v[2], v[3], v[4]); }},
    {"clamp", "mm", [](Backend& be, const Mat* v) { be.clamp(v[0], Real(-0.75), Real(1.25), v[1]); }, true},
    {"clamp_backward", "mmm",
     [](Backend& be, const Mat* v) { be.clamp_backward(v[0], Real(-0.75), Real(1.25), v[1], v[2]); }, true},
    {"bce_logits", "mmm", [](Backend& be, const Mat* v) { be.bce_logits(v[0], v[1], v[2]); }},
    {"bce_logits_backward", "mmmm", [](Backend& be, const Mat* v) { be.bce_logits_backward(v[0], v[1], v[2], v[3]); }},
    {"dropout", "mm", [](Backend& be, const Mat* v) { be.dropout(v[0], 0.3, 42, v[1]); }, true},
    {"dropout_backward", "mm", [](Backend& be, const Mat* v) { be.dropout_backward(v[0], 0.3, 42, v[1]); }, true},
    {"dropout of all", "mm", [](Backend& be, const Mat* v) { be.dropout(v[0], 1, 42, v[1]); }, true},

    {"add_number", "mm", [](Backend& be, const Mat* v) { be.add_number(v[0], Real(2.5), v[1]); }, true},
    {"mul_scalar", "msm", [](Backend& be, const Mat* v) { be.mul_scalar(v[0], v[1], v[2]); }, true},
    {"add_mul_scalar", "msm", [](Backend& be, const Mat* v) { be.add_mul_scalar(v[0], v[1], v[2]); }},
    {"add_scalar", "msm", [](Backend& be, const Mat* v) { be.add_scalar(v[0], v[1], v[2]); }, true},
    {"add_row", "mrm", [](Backend& be, const Mat* v) { be.add_row(v[0], v[1], v[2]); }, true},
    {"add_row in place", "mr", [](Backend& be, const Mat* v) { be.add_row(v[0], v[1], v[0]); }, true},
    {"sub_row", "mrm", [](Backend& be, const Mat* v) { be.sub_row(v[0], v[1], v[2]); }, true},
    {"mul_row", "mrm", [](Backend& be, const Mat* v) { be.mul_row(v[0], v[1], v[2]); }, true},
    {"div_row", "mrm", [](Backend& be, const Mat* v) { be.div_row(v[0], v[1], v[2]); }, true},
    {"add_mul_row", "mrm", [](Backend& be, const Mat* v) { be.add_mul_row(v[0], v[1], v[2]); }},
    {"div_row_backward", "mrm", [](Backend& be, const Mat* v) { be.div_row_backward(v[0], v[1], v[2]); }},
    {"div_row_backward_row", "mmrr",
     [](Backend& be, const Mat* v) { be.div_row_backward_row(v[0], v[1], v[2], v[3]); }},
    {"add_col", "mcm", [](Backend& be, const Mat* v) { be.add_col(v[0], v[1], v[2]); }, true},
    {"sub_col", "mcm", [](Backend& be, const Mat* v) { be.sub_col(v[0], v[1], v[2]); }, true},
    {"mul_col", "mcm", [](Backend& be, const Mat* v) { be.mul_col(v[0], v[1], v[2]); }, true},
    {"div_col", "mcm", [](Backend& be, const Mat* v) { be.div_col(v[0], v[1], v[2]); }, true},
    {"div_col in place", "mc", [](Backend& be, const Mat* v) { be.div_col(v[0], v[1], v[0]); }, true},
    {"add_mul_col", "mcm", [](Backend& be, const Mat* v) { be.add_mul_col(v[0], v[1], v[2]); }},
    {"div_col_backward", "mcm", [](Backend& be, const Mat* v) { be.div_col_backward(v[0], v[1], v[2]); }},
    {"div_col_backward_col", "mmcc",
     [](Backend& be, const Mat* v) { be.div_col_backward_col(v[0], v[1], v[2], v[3]); }},

    {"sum", "ms", [](Backend& be, const Mat* v) { be.sum(v[0], Real(-0.7), v[1]); }},
    {"add_sum", "ms", [](Backend& be, const Mat* v) { be.add_sum(v[0], v[1]); }},
    {"add_dot", "mms", [](Backend& be, const Mat* v) { be.add_dot(v[0], v[1], v[2]); }},
    {"norm", "ms", [](Backend& be, const Mat* v) { be.norm(v[0], v[1]); }},
    {"add_row_sums", "mc", [](Backend& be, const Mat* v) { be.add_row_sums(Real(-0.7), v[0], v[1]); }},
    {"add_col_sums", "mr", [](Backend& be, const Mat* v) { be.add_col_sums(Real(-0.7), v[0], v[1]); }},
    {"add_row_dots", "mmc", [](Backend& be, const Mat* v) { be.add_row_dots(v[0], v[1], v[2]); }},
    {"add_col_dots", "mmr", [](Backend& be, const Mat* v) { be.add_col_dots(v[0], v[1], v[2]); }},

    // a warp for each row: up to 32 columns each lane has one, beyond that it goes round
    {"softmax_rows", "mm", [](Backend& be, const Mat* v) { be.softmax_rows(v[0], v[1]); }},
    {"softmax_rows_backward", "mmm", [](Backend& be, const Mat* v) { be.softmax_rows_backward(v[0], v[1], v[2], true); }},
    {"log_softmax_rows", "mm", [](Backend& be, const Mat* v) { be.log_softmax_rows(v[0], v[1]); }},
    {"log_softmax_rows_backward", "mmm",
     [](Backend& be, const Mat* v) { be.log_softmax_rows_backward(v[0], v[1], v[2], true); }},
    {"log_sum_exp", "mc", [](Backend& be, const Mat* v) { be.log_sum_exp(v[0], v[1]); }},
    {"log_sum_exp_backward", "mcm", [](Backend& be, const Mat* v) { be.log_sum_exp_backward(v[0], v[1], v[2]); }},
    {"rms_norm", "mrcm", [](Backend& be, const Mat* v) { if (v[0].cols) be.rms_norm(v[0], v[1], 1e-5, v[2], v[3]); }},
    {"rms_norm_backward", "mrcmm",
     [](Backend& be, const Mat* v) { if (v[0].cols) be.rms_norm_backward(v[0], v[1], v[2], v[3], v[4], {}, true); }},
    {"layer_norm", "mrrcm",
     [](Backend& be, const Mat* v) { if (v[0].cols) be.layer_norm(v[0], v[1], v[2], 1e-5, v[3], v[4]); }},
    {"layer_norm_backward", "mrcmm",
     [](Backend& be, const Mat* v) { if (v[0].cols) be.layer_norm_backward(v[0], v[1], v[2], v[3], v[4], {}, {}, true); }},

    {"transpose", "mt", [](Backend& be, const Mat* v) { be.transpose(v[0], v[1]); }, true},
    {"add_transposed", "mt", [](Backend& be, const Mat* v) { be.add_transposed(v[0], v[1]); }, true},
    {"adamw", "mmmm",
     [](Backend& be, const Mat* v) {
       be.map(Function::abs, v[2], v[3]);  // v is a mean of squares
       be.adamw(v[0], {0.01, 0.999, 0.9, 0.999, 1e-8, 0.19, 0.002}, v[1], v[3], v[2]);
     }},
};

std::vector<TwinCase> twin_rows() { return {std::begin(kCases), std::end(kCases)}; }

}  // namespace GLASS_PRECISION
}  // namespace glass
