/* llm.c's train_gpt2.c, included whole from the checkout that tests/bench/run --llmc names, and what llmc.cpp asks of it.
   In C and with llm.c's own flags, as its Makefile builds it. */
#define TESTING /* no main */
#include "train_gpt2.c"

static GPT2 model;
static int steps;

void llmc_build(const char* checkpoint) { gpt2_build_from_checkpoint(&model, checkpoint); }

void llmc_step(int* ids, int* targets, int B, int T) {
  gpt2_forward(&model, ids, targets, B, T);
  gpt2_zero_grad(&model);
  gpt2_backward(&model);
  gpt2_update(&model, 1e-3f, 0.9f, 0.999f, 1e-8f, 0.01f, ++steps);
}

float llmc_loss(void) { return model.mean_loss; }
