/** The part of a program of torch that checks and measures it; the same for all schedules. */
export const TIMES_TEXT = `

def filled(group, x, y):
    """Carries the schedule out on flat tensors; empty ones stand for what the rank does not have."""
    group.into(x if INPUT[group.rank] else None, y if OUTPUT[group.rank] else None)
    return y


def check(group, counts):
    """Raises SystemExit where this rank ends with something else than the definition says."""
    for count in counts:
        inputs = [numbers(rank, count) for rank in range(RANKS)]
        x = inputs[group.rank].to(group.device)
        inside, outside = in_place(group, x, count)
        for source, target in ((x, x.new_empty(len(OUTPUT[group.rank]) * count)), (inside.copy_(x), outside)):
            if not torch.equal(filled(group, source, target).cpu(), definition(inputs)[group.rank]):
                raise SystemExit(f"rank {group.rank} has wrong numbers for {count} elements a block")
    dist.barrier()
    if group.rank == 0:
        print(f"{TITLE}: correct for {counts} elements a block")


def in_place(group, x, count):
    """Returns input and output that share memory as nccl-tests have them, or do not where this collective's cannot."""
    inside, outside = list(INPUT[group.rank]), list(OUTPUT[group.rank])
    longer, shorter = (outside, inside) if len(outside) >= len(inside) else (inside, outside)
    at = longer.index(shorter[0]) if shorter and shorter[0] in longer else 0
    if longer[at : at + len(shorter)] != shorter:
        return x.clone(), x.new_empty(len(outside) * count)
    whole = x.new_zeros(len(longer) * count)
    part = whole.narrow(0, at * count, len(shorter) * count)
    return (part, whole) if longer is outside else (whole, part)


def seconds(calls, iterations, warmup, device):
    """Returns for each call the median over iterations of the time that the slowest rank took; calls take turns."""
    times = torch.zeros(len(calls), iterations, dtype=torch.float64)
    for k in range(-warmup, iterations):
        for which, call in enumerate(calls):
            dist.barrier()
            begin = time.perf_counter()
            call()
            if device.type == "cuda":
                torch.cuda.synchronize(device)
            if k >= 0:
                times[which, k] = time.perf_counter() - begin
    times = times.to(device)
    dist.all_reduce(times, op=dist.ReduceOp.MAX)
    return times.median(dim=1).values.tolist()


def fixed(value, width):
    """Returns a number in this many characters, as nccl-tests write it."""
    texts = [f"{value:.{digits}f}" for digits in (2, 1, 0)] + [f"{value:.1e}"]
    return next((text for text in texts if len(text) <= width), texts[-1]).rjust(width)


TYPES = {"int8": "int8", "uint8": "uint8", "int32": "int32", "int64": "int64", "half": "float16", "float": "float32"}
TYPES.update({"double": "float64", "bfloat16": "bfloat16"})


def row(size, count, options, times, wrong):
    figures = ""
    for second in times:
        speed = size / second / 1e9
        figures += f"  {fixed(1e6 * second, 7)}  {fixed(speed, 6)}  {fixed(speed * BUS_FACTOR, 6)}  {wrong:>5}"
    what = f"{options.dtype:>8}  {'sum' if REDUCES else 'none':>6}  {ROOT_COLUMN:>6}"
    return f"{size:>12}  {count:>12}  {what}{figures}"


def measure(group, options):
    """Prints a table as nccl-tests do: medians. Returns how many elements were wrong."""
    say = print if group.rank == 0 else lambda *_: None
    dtype = getattr(torch, TYPES[options.dtype])
    blocks = max(len(side[rank]) for side in (INPUT, OUTPUT) for rank in range(RANKS))
    blank = " " * 10 + "  " + " " * 12 + "  " + " " * 8 + "  " + " " * 6 + "  " + " " * 6
    measured = "{:>7}  {:>6}  {:>6}  {:>6}"
    words = f"  {measured.format('time', 'algbw', 'busbw', '#wrong')}" * 2
    units = f"  {measured.format('(us)', '(GB/s)', '(GB/s)', '')}" * 2
    say(f"# {TITLE}; medians of {options.iters}, warmup iters: {options.warmup}")
    say(f"# {blank}           out-of-place                       in-place          ")
    say(f"# {'size':>10}  {'count':>12}  {'type':>8}  {'redop':>6}  {'root':>6}{words} ")
    say(f"# {'(B)':>10}  {'(elements)':>12}  {'':>8}  {'':>6}  {'':>6}{units} ")
    total, speeds = 0, []
    for size in options.size:
        count = size // (blocks * torch.empty(0, dtype=dtype).element_size())
        inputs = [numbers(rank, count, dtype) for rank in range(RANKS)]
        x = inputs[group.rank].to(group.device)
        y = x.new_empty(len(OUTPUT[group.rank]) * count)
        wanted = definition(inputs)[group.rank].to(group.device)
        del inputs
        found = (filled(group, x, y) != wanted).sum().to(torch.float64).reshape(1)
        dist.all_reduce(found)
        wrong = int(found.item())
        inside, outside = in_place(group, x, count)
        calls = [lambda: filled(group, x, y), lambda: filled(group, inside, outside)]
        if options.compare:
            calls += [lambda: library(x, y), lambda: library(inside, outside)]
        times = seconds(calls, options.iters, options.warmup, group.device)
        say(row(size, count, options, times[:2], wrong))
        if options.compare:
            say(f"#{row(size, count, options, times[2:], 'N/A')[1:]}  torch's own")
            ratios = " and ".join(f"{ours / theirs:.2f}" for ours, theirs in zip(times, times[2:]))
            say(f"# takes {ratios} times as long as torch's own")
        total += wrong
        speeds += [size / second / 1e9 * BUS_FACTOR for second in times[:2]]
    say(f"# Out of bounds values : {total} {'FAILED' if total else 'OK'}")
    say(f"# Avg bus bandwidth    : {sum(speeds) / len(speeds):.6g} ")
    return total


def size_of(text):
    """Returns the bytes of 16MiB, 16M (2^20 bytes each, as in nccl-tests), 16MB (10^6) or 4096."""
    number = text.rstrip("KMGiB")
    unit = text[len(number) :]
    powers = {"": 1}
    for k, letter in enumerate("KMG", 1):
        powers.update({letter: 1024**k, f"{letter}iB": 1024**k, f"{letter}B": 1000**k})
    if unit not in powers or not number.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 1MiB, 64MB or 4096")
    return int(number) * powers[unit]


def sizes_of(text):
    return [size_of(one) for one in text.split(",")]


def options_of(arguments):
    parser = argparse.ArgumentParser(description=TITLE)
    parser.add_argument("counts", nargs="*", type=int, metavar="count", help="elements of a block to check with")
    parser.add_argument("--time", action="store_true", help="measure, and print the columns of nccl-tests")
    parser.add_argument("--compare", action="store_true", help="measure torch.distributed's own in turn with it")
    parser.add_argument("--size", type=sizes_of, default=[1 << 20, 1 << 24], help="as nccl-tests count it: 1MiB,16MiB")
    parser.add_argument("--dtype", choices=list(TYPES), default="float")
    parser.add_argument("--iters", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--parts", type=int, help="parts into which pieces are cut")
    parser.add_argument("--backend", choices=["gloo", "nccl"], help="default: nccl where there are GPUs")
    options = parser.parse_args(arguments)
    if options.iters < 1 or options.warmup < 0 or min(options.size) < 1 or (options.parts or 1) < 1:
        parser.error("--iters, --size and --parts must be 1 or more, --warmup 0 or more")
    if options.backend is None:
        options.backend = "nccl" if torch.cuda.is_available() and dist.is_nccl_available() else "gloo"
    return options


def perform(options, local):
    """Does what the options say, in a process of an initialized group, the local-th of its machine."""
    group = CollectiveGroup(parts=options.parts)
    group.device = torch.device("cuda", local) if options.backend == "nccl" else torch.device("cpu")
    wrong = 0
    if options.time or options.compare:
        wrong = measure(group, options)
    else:
        check(group, options.counts or [1, 1009])
    dist.destroy_process_group()
    if wrong:
        raise SystemExit(f"rank {group.rank}: {wrong} wrong numbers")


def process(rank, options, folder):
    if options.backend == "nccl":
        torch.cuda.set_device(rank)
    else:
        torch.set_num_threads(1)
    dist.init_process_group(options.backend, init_method=f"file://{folder}/meeting", rank=rank, world_size=RANKS)
    perform(options, rank)


if __name__ == "__main__":
    options = options_of(sys.argv[1:])
    if "RANK" in os.environ:
        local = int(os.environ.get("LOCAL_RANK", os.environ["RANK"]))
        if options.backend == "nccl":
            torch.cuda.set_device(local)
        dist.init_process_group(options.backend)
        perform(options, local)
    else:
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(process, (options, folder), RANKS)
`;
