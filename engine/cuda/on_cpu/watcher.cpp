// Watches every load and store of a kernel: finds races and reads of unwritten shared memory, and counts
// 32-byte sectors and bank conflicts.  Compile the kernels with -fsanitize=thread, but LINK WITHOUT IT: the
// compiler then calls the __tsan_* functions below instead of ThreadSanitizer's.
#include "watcher.h"
#include "state.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <set>
#include <tuple>
#include <unordered_map>

namespace cuda_on_cpu {
namespace {
struct Access {  // who touched a word, and when
  unsigned block = 0, thread = 0, barriers = 0, warp_syncs = 0;
  void* pc = nullptr;  // null: nobody yet
  bool atomic = false;
  unsigned char bytes = 0;  // which of the word's four bytes
};
struct Word {
  Access write, read[2];
};  // two readers: any writer differs from at least one of them
struct Record {
  void* pc;
  unsigned warp, nth;
  std::uintptr_t address;
  unsigned size;
  bool shared, write;
};

std::unordered_map<std::uintptr_t, Word> shared_words, global_words;
std::map<std::uintptr_t, std::size_t> allocations;
std::vector<std::unordered_map<void*, unsigned>> times_executed;  // per thread: how often each instruction
std::vector<Record> records;
std::map<std::tuple<void*, bool, bool>, AccessLine> lines;
std::map<std::pair<void*, void*>, std::string> problems;

struct Place {
  std::string file;
  int line = 0;
  std::string text;
  bool emulated = false;
};
std::map<void*, Place> known;

std::string line_of(const std::string& file, int line) {  // the text of it, without what surrounds it; "" if unreadable
  std::string text;
  if (FILE* f = std::fopen(file.c_str(), "r")) {
    char part[1000];
    for (int i = 0; i < line && std::fgets(part, sizeof part, f); ++i) text = part;
    std::fclose(f);
  }
  text.erase(0, text.find_first_not_of(" \t"));
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

// Asks addr2line where these are: once for all of them, for it reads the whole program each time.
void learn(const std::vector<void*>& pcs) {
  std::string addresses, program;
  std::map<unsigned long, void*> asked;
  for (void* pc : pcs) {
    Dl_info info{};
    if (known.count(pc) || !dladdr(pc, &info)) continue;
    program = info.dli_fname;
    const auto at = static_cast<unsigned long>(static_cast<char*>(pc) - static_cast<char*>(info.dli_fbase) - 1);
    char text[32];
    std::snprintf(text, sizeof text, " %lx", at);
    if (asked.emplace(at, pc).second) addresses += text;
  }
  if (asked.empty()) return;
  FILE* pipe = popen(("addr2line -a -i -e '" + program + "'" + addresses).c_str(), "r");
  if (!pipe) return;
  Place* p = nullptr;  // of the address that is being answered; nullptr once its line is found
  char text[1000];
  while (std::fgets(text, sizeof text, pipe)) {  // "0x1234", then FILE:LINE, the innermost of what was inlined first
    const std::string s = text;
    if (s.rfind("0x", 0) == 0) {
      p = &known[asked[std::strtoul(text, nullptr, 16)]];
      *p = {"?", 0, "", false};
      continue;
    }
    if (!p) continue;
    const auto colon = s.rfind(':');
    p->file = s.substr(0, colon);
    p->line = std::atoi(s.c_str() + colon + 1);
    p->emulated |= p->file.ends_with("/mma.h") || p->file.ends_with("/tensor_ops.cuh");
    if (p->file.find("on_cpu/include/") == std::string::npos) p = nullptr;  // else what the stand-in inlined: on
  }
  pclose(pipe);
  for (const auto& [at, pc] : asked) {
    Place& found = known[pc];
    found.text = line_of(found.file, found.line);
    found.file = found.file.substr(found.file.rfind('/') + 1);
  }
}

Place place_of(void* pc) {  // only for reports
  learn({pc});
  return known[pc];
}
std::string describe(const Access& a, const char* did) {
  const uint3 t = threads[a.thread].index;
  const Place p = place_of(a.pc);
  char s[400];
  std::snprintf(s, sizeof s, "\n    block %u thread (%u,%u,%u) %s at %s:%d: %s", a.block, t.x, t.y, t.z, did,
                p.file.c_str(), p.line, p.text.c_str());
  return s;
}

bool ordered(const Access& before, const Access& now) {
  if (before.block != now.block) return false;
  if (before.thread == now.thread || before.barriers != now.barriers) return true;
  return before.thread / 32 == now.thread / 32 && before.warp_syncs < now.warp_syncs;
}
void compare(const Access& before, const Access& now, bool wrote_before, bool writes_now, bool shared) {
  if (!before.pc || !(before.bytes & now.bytes) || (before.atomic && now.atomic) || ordered(before, now)) return;
  std::string& text = problems[{before.pc, now.pc}];
  if (text.empty())
    text = std::string("\n  race on ") + (shared ? "shared" : "global") +
           " memory, no barrier in between:" + describe(before, wrote_before ? "wrote" : "read") +
           describe(now, writes_now ? "writes" : "reads");
}

extern "C" char __data_start, _end;  // the program's variables, static __shared__ arrays among them

void touch(const void* pointer, unsigned size, bool write, bool atomic, void* pc) {
  if (!current) return;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto inside = [&](const void* p, std::size_t n) { return address - reinterpret_cast<std::uintptr_t>(p) < n; };
  const auto next = allocations.upper_bound(address);
  const bool global = next != allocations.begin() && address < std::prev(next)->first + std::prev(next)->second;
  if (!global) {
    const bool variable = inside(&__data_start, std::size_t(&_end - &__data_start)) &&
                          !inside(&threadIdx, sizeof threadIdx) && !inside(&blockIdx, sizeof blockIdx) &&
                          !inside(&blockDim, sizeof blockDim) && !inside(&gridDim, sizeof gridDim);
    if (!variable && !inside(dynamic_shared, dynamic_shared_bytes)) return;  // local variables, arguments
  }
  records.push_back({pc, current->linear / 32, times_executed[current->linear][pc]++, address, size, !global, write});
  auto& words = global ? global_words : shared_words;
  for (auto a = address; a < address + size; a = (a | 3) + 1) {
    const auto last = std::min<std::uintptr_t>((a | 3) + 1, address + size);
    Access now{block_number, current->linear, current->barriers, current->warp_syncs, pc, atomic, 0};
    for (auto b = a; b < last; ++b) now.bytes |= static_cast<unsigned char>(1 << (b & 3));
    Word& w = words[a / 4];
    if (!write && !global && !w.write.pc) {
      std::string& text = problems[{nullptr, pc}];
      if (text.empty()) text = "\n  reads shared memory that nobody has written:" + describe(now, "reads");
    }
    compare(w.write, now, true, write, !global);
    if (write) {
      for (const Access& r : w.read) compare(r, now, false, true, !global);
      w.write = now;
      w.read[0] = w.read[1] = {};
    } else if (!w.read[0].pc || (w.read[0].block == now.block && w.read[0].thread == now.thread))
      w.read[0] = now;
    else
      w.read[1] = now;
  }
}

unsigned distinct(std::vector<std::uintptr_t>& v) {
  std::sort(v.begin(), v.end());
  return unsigned(std::unique(v.begin(), v.end()) - v.begin());
}
// Turns the block's records into counts: a "request" is what the lanes of one warp do at one instruction at a time.
void count_block() {
  const auto key = [](const Record& r) { return std::tuple(r.pc, r.shared, r.write, r.warp, r.nth); };
  std::stable_sort(records.begin(), records.end(), [&](const Record& a, const Record& b) { return key(a) < key(b); });
  for (std::size_t i = 0, j; i < records.size(); i = j) {
    for (j = i; j < records.size() && key(records[j]) == key(records[i]);) ++j;
    AccessLine& line = lines[{records[i].pc, records[i].shared, records[i].write}];
    ++line.requests;
    line.lanes += j - i;
    if (!records[i].shared) {
      std::vector<std::uintptr_t> sectors, words;
      for (std::size_t r = i; r < j; ++r)
        for (auto a = records[r].address; a < records[r].address + records[r].size; a += 4)
          sectors.push_back(a / 32), words.push_back(a / 4);
      line.cost += distinct(sectors);
      line.best += (distinct(words) * 4 + 31) / 32;
    } else {  // 16-byte accesses go a quarter warp at a time, 8-byte ones half a warp
      const std::size_t together = std::max<std::size_t>(1, 32 / std::max(1u, records[i].size / 4));
      for (std::size_t first = i; first < j; first += together) {
        std::array<std::set<std::uintptr_t>, 32> banks;
        for (std::size_t r = first; r < std::min(j, first + together); ++r)
          for (auto a = records[r].address; a < records[r].address + records[r].size; a += 4)
            banks[a / 4 % 32].insert(a / 4);
        std::size_t passes = 1;
        for (const auto& b : banks) passes = std::max(passes, b.size());
        line.cost += passes;
        ++line.best;
      }
    }
  }
  records.clear();
}

struct Install {
  Install() {
    observer.launch_begin = [] { global_words.clear(), problems.clear(); };
    observer.block_begin = [] {
      shared_words.clear(), records.clear();
      times_executed.assign(block_size, {});
    };
    observer.block_end = count_block;
    observer.launch_end = [] {
      if (problems.empty()) return;
      std::map<std::pair<std::string, std::string>, std::string>
          by_line;  // an unrolled loop is one line, many instructions
      std::vector<void*> pcs;
      for (const auto& [two, text] : problems) pcs.insert(pcs.end(), {two.first, two.second});
      learn(pcs);
      const auto where = [](void* pc) {
        const Place p = pc ? place_of(pc) : Place{};
        return p.file + ":" + std::to_string(p.line);
      };
      for (const auto& [two, text] : problems)
        by_line.emplace(std::pair(where(two.first), where(two.second)), text);
      std::string all = std::to_string(by_line.size()) + " problem(s):";
      for (const auto& [places, text] : by_line) all += text;
      throw KernelError(all);
    };
    observer.touch = touch;
    observer.allocated = [](const void* p, std::size_t n) { allocations[reinterpret_cast<std::uintptr_t>(p)] = n; };
    observer.freed = [](const void* p) { allocations.erase(reinterpret_cast<std::uintptr_t>(p)); };
  }
} install;
}  // namespace

void forget_accesses() { lines.clear(); }

std::vector<AccessLine> accesses() {
  std::map<std::tuple<std::string, int, bool, bool>, AccessLine> merged;
  std::vector<void*> pcs;
  for (const auto& [k, l] : lines) pcs.push_back(std::get<0>(k));
  learn(pcs);
  for (const auto& [k, l] : lines) {
    const Place p = place_of(std::get<0>(k));
    if (p.emulated) continue;  // tensor-core loads and stores: the GPU's pattern is another
    AccessLine& m = merged[{p.file, p.line, std::get<1>(k), std::get<2>(k)}];
    m.file = p.file, m.line = p.line, m.text = p.text, m.shared = std::get<1>(k), m.write = std::get<2>(k);
    m.requests += l.requests, m.lanes += l.lanes, m.cost += l.cost, m.best += l.best;
  }
  std::vector<AccessLine> v;
  for (const auto& [k, l] : merged) v.push_back(l);
  return v;
}

void print_accesses() {
  std::printf("%-20s %-12s %10s %12s %14s %8s\n", "line", "access", "requests", "lanes/req", "cost/request", "best");
  for (const AccessLine& l : accesses()) {
    const bool slow = l.cost > l.best * 1.01;
    std::printf("%-15s:%-4d %-6s %-5s %10lu %12.1f %8.2f %-7s %6.2f%s\n", l.file.c_str(), l.line,
                l.shared ? "shared" : "global", l.write ? "write" : "read", l.requests, double(l.lanes) / l.requests,
                double(l.cost) / l.requests, l.shared ? "passes" : "sectors", double(l.best) / l.requests,
                !slow ? "" : l.shared ? "   <- bank conflicts" : "   <- not coalesced");
  }
}
}  // namespace cuda_on_cpu

#define HOOK(name, size, write) \
  extern "C" void name(void* p) { cuda_on_cpu::touch(p, size, write, false, __builtin_return_address(0)); }
HOOK(__tsan_read1, 1, false)
HOOK(__tsan_read2, 2, false)
HOOK(__tsan_read4, 4, false) HOOK(__tsan_read8, 8, false) HOOK(__tsan_read16, 16, false) HOOK(__tsan_write1, 1, true)
    HOOK(__tsan_write2, 2, true) HOOK(__tsan_write4, 4, true) HOOK(__tsan_write8, 8, true)
        HOOK(__tsan_write16, 16, true) HOOK(__tsan_unaligned_read2, 2, false) HOOK(__tsan_unaligned_read4, 4, false)
            HOOK(__tsan_unaligned_read8, 8, false) HOOK(__tsan_unaligned_read16, 16, false)
                HOOK(__tsan_unaligned_write2, 2, true) HOOK(__tsan_unaligned_write4, 4, true)
                    HOOK(__tsan_unaligned_write8, 8, true) HOOK(__tsan_unaligned_write16, 16, true) extern "C" {
  void __tsan_read_range(void* p, std::size_t n) {
    cuda_on_cpu::touch(p, unsigned(n), false, false, __builtin_return_address(0));
  }
  void __tsan_write_range(void* p, std::size_t n) {
    cuda_on_cpu::touch(p, unsigned(n), true, false, __builtin_return_address(0));
  }
  unsigned char __tsan_atomic8_load(const unsigned char* p, int) { return *p; }  // guards of static variables
  void __tsan_init() {}
  void __tsan_func_entry(void*) {}
  void __tsan_func_exit() {}
  void __tsan_vptr_update(void**, void*) {}
  void __tsan_vptr_read(void**) {}
}
