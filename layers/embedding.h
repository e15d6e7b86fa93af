// An embedding: one learned row for each word of a vocabulary.
#pragma once

#include <string>
#include <vector>

#include "engine/ops.h"
#include "engine/params.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   X_i = table_(ids_i)              table: V x C    ids: n    X: n x C
//
// A linear layer on one-hot rows, X = onehot(ids) · table, without multiplying by zeros. In backward the row of a
// word receives the gradients of ALL its places in the text, added up.
struct Embedding {
  Param* table;

  Embedding(ParamStore&, const std::string& name, int words, int width, Rng&, Start = Init::normal);
  Var operator()(Tape&, const std::vector<int>& ids) const;  // throws ShapeError for an id outside
};

}  // namespace GLASS_PRECISION
}  // namespace glass
