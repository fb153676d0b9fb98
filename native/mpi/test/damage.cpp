// Damages plans and reads them:  damage SEED RUNS FILE...
// Every line cut, doubled, left out, exchanged and every byte of it changed must be refused, for its checksum is wrong. With a new
// checksum a reader must not do worse than refuse, or read a plan whose every place lies in its buffer; so RUNS times random
// damage. Prints a line of JSON. To be built with -fsanitize=address,undefined.
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "../judge.h"

namespace {

long long damaged = 0, refused = 0, resealed = 0, resealedRefused = 0, wrong = 0;

bool reads(const std::string& text, int rank) {
  banyan_plan* plan = nullptr;
  char error[200];
  // A copy of just this size, so that reading past its end is seen.
  const std::vector<char> bytes(text.begin(), text.end());
  const int outcome = banyan_plan_read(bytes.data(), bytes.size(), rank, &plan, error, sizeof error);
  const bool isRead = outcome == BANYAN_READ;
  if (isRead != (plan != nullptr) || (!isRead && strncmp(error, "line ", 5) != 0)) wrong++;
  for (int s = 0; isRead && s < plan->stepCount; s++) {
    const banyan_step& step = plan->steps[s];
    const int64_t most[] = {static_cast<int64_t>(banyan_slots(plan, BANYAN_INPUT, rank)) * plan->chunks,
                            static_cast<int64_t>(banyan_slots(plan, BANYAN_OUTPUT, rank)) * plan->chunks,
                            plan->scratchChunks};
    if (step.op != BANYAN_RECEIVE && step.sourceIndex + step.count > most[step.source]) wrong++;
    if (step.op != BANYAN_SEND && (step.target == BANYAN_INPUT || step.targetIndex + step.count > most[step.target])) wrong++;
  }
  banyan_plan_free(plan);
  return isRead;
}

std::string sealed(const std::string& body) {
  char line[32];
  std::snprintf(line, sizeof line, "end %016llx\n",
                static_cast<unsigned long long>(banyan_hash(body.data(), body.size(), BANYAN_HASH_START)));
  return body + line;
}

void expectRefusal(const std::string& text, const std::string& whole) {
  if (text == whole) return;
  damaged++;
  if (reads(text, -1)) {
    wrong++;
  } else {
    refused++;
  }
}

void tryLines(const std::string& whole) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < whole.size();) {
    const size_t end = whole.find('\n', at) + 1;
    lines.push_back(whole.substr(at, end - at));
    at = end;
  }
  size_t start = 0;
  for (size_t k = 0; k < lines.size(); k++) {
    const std::string before = whole.substr(0, start), line = lines[k], after = whole.substr(start + line.size());
    expectRefusal(before + after, whole);
    expectRefusal(before + line + line + after, whole);
    expectRefusal(before + line.substr(0, line.size() / 2), whole);
    expectRefusal(before, whole);
    if (k + 1 < lines.size()) expectRefusal(before + lines[k + 1] + line + after.substr(lines[k + 1].size()), whole);
    for (size_t c = 0; c < line.size(); c++)
      for (const char other : {'0', '9', ' ', '\n', 'o', '\0', '\x80'}) {
        std::string changed = line;
        changed[c] = other;
        expectRefusal(before + changed + after, whole);
      }
    start += line.size();
  }
}

void tryResealed(const std::string& whole, std::mt19937& draw, int runs) {
  const std::string body = whole.substr(0, whole.rfind("end "));
  const std::vector<std::string> words = {"0", "1", "2", "99999999999999999999", "2147483647", "s", "i", "o", "@0:0", "@1:1",
                                          "rrc", "to 1 0", "local", "library", "-", "ops sum", "\n", " "};
  for (int k = 0; k < runs; k++) {
    std::string text = body;
    for (int changes = 1 + static_cast<int>(draw() % 3); changes > 0; changes--) {
      const size_t at = draw() % text.size();
      const size_t length = draw() % 8;
      switch (draw() % 4) {
        case 0: text.erase(at, length); break;
        case 1: text.insert(at, words[draw() % words.size()]); break;
        case 2: text[at] = static_cast<char>('0' + draw() % 10); break;
        default: text.replace(at, length, text.substr(draw() % text.size(), length));
      }
      if (text.empty()) text = "x";
    }
    if (text.back() != '\n') text += '\n';
    resealed++;
    if (!reads(sealed(text), static_cast<int>(draw() % 3) - 1)) resealedRefused++;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  std::mt19937 draw(static_cast<unsigned>(std::atoi(argv[1])));
  for (int k = 3; k < argc; k++) {
    std::ifstream file(argv[k], std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!reads(whole, -1)) wrong++;
    tryLines(whole);
    tryResealed(whole, draw, std::atoi(argv[2]));
  }
  std::printf("{\"damaged\":%lld,\"refused\":%lld,\"resealed\":%lld,\"resealedRefused\":%lld,\"wrong\":%lld}\n", damaged, refused,
              resealed, resealedRefused, wrong);
  return wrong == 0 ? 0 : 1;
}
