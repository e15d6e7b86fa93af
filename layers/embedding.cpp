#include "layers/embedding.h"

namespace glass {
inline namespace GLASS_PRECISION {

Embedding::Embedding(ParamStore& store, const std::string& name, int words, int width, Rng& rng, Start start)
    : table(&store.make(name, {words, width}, start, rng)) {}

Var Embedding::operator()(Tape& tape, const std::vector<int>& ids) const {
  return gather_rows(tape.use(*table), ids.data(), int(ids.size()));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
