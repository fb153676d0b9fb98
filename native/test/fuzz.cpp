// libFuzzer: problems from its bytes through the C ABI; a crash, a sanitizer report or an unlawful answer is a find.
#include <cstdio>
#include <cstdlib>

#include "run.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  banyan_test::Source random(data, size);
  std::int32_t status = 0;
  const bool relay = random.Below(2) == 0;
  const char* fault = relay ? banyan_test::RunRelay(banyan_test::RandomRelay(random, 7, 24), &status)
                            : banyan_test::RunMatch(banyan_test::RandomMatch(random, 7, 36), &status);
  if (fault != nullptr) {
    std::fprintf(stderr, "%s\n", fault);
    std::abort();
  }
  return 0;
}
