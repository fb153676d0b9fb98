// libFuzzer: problems from its bytes through the C ABI, half of them by a caller that breaks its contract; a crash, a
// sanitizer report or an unlawful answer is a find.
#include <cstdio>
#include <cstdlib>

#include "attack.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  banyan_test::Source random(data, size);
  std::int32_t status = 0;
  std::size_t replayed = 0;
  std::size_t shown = 0;
  const std::int32_t kernel = random.Below(30);
  const char* fault = kernel >= 15   ? banyan_test::Attack(random)
                      : kernel == 0  ? banyan_test::RunRelay(banyan_test::RandomRelay(random, 7, 24), &status)
                      : kernel == 1  ? banyan_test::RunMatch(banyan_test::RandomMatch(random, 7, 36), &status)
                      : kernel == 2  ? banyan_test::RunSpread(banyan_test::RandomMatch(random, 7, 36), &status)
                      : kernel == 3  ? banyan_test::RunFolded(random, &status)
                      : kernel == 4  ? banyan_test::RunPlace(banyan_test::RandomPlace(random, 7, 40), &status)
                      : kernel == 5  ? banyan_test::RunRate(banyan_test::RandomRate(random, 7), &status)
                      : kernel == 6  ? banyan_test::RunSweep(banyan_test::RandomSweep(random, 7), &status)
                      : kernel == 8  ? banyan_test::RunPartition(banyan_test::RandomPartition(random, 4), &status)
                      : kernel == 9  ? banyan_test::RunBalance(banyan_test::RandomBalance(random, 8), &status)
                      : kernel == 10 ? banyan_test::RunConcurrent(banyan_test::RandomConcurrent(random, 8), &status)
                      : kernel == 11 ? banyan_test::RunReplay(banyan_test::RandomReplay(random, 60), &status, &replayed)
                      : kernel == 13 ? banyan_test::RunJudge(banyan_test::RandomJudge(random, 12), &status, &shown)
                      : kernel == 12 ? banyan_test::RunPeriod(banyan_test::RandomPeriod(random, 8), &status)
                      : kernel == 7  ? banyan_test::RunPack(banyan_test::RandomPack(random, 7), &status)
                                    : banyan_test::RunArborescence(banyan_test::RandomArborescence(random, 6), &status);
  if (fault != nullptr) {
    std::fprintf(stderr, "%s\n", fault);
    std::abort();
  }
  return 0;
}
