"""Measures how long flows between processes of torch.distributed take: what native/mpi/probe.cpp does over MPI.

Started by a launcher that sets RANK and WORLD_SIZE, MASTER_ADDR and MASTER_PORT (torchrun, for one), or with --np N, which
starts N of it on this machine:

    torch-prober.py --backend gloo|nccl --list FILE [--np N]

Rank 0 reads the list and prints the answers, in the formats of native/mpi/probe.cpp. Endpoints are the processes in the order of
their ranks, and, with CUDA, the memory of each host's NUMA nodes behind them: a flow between a GPU and such memory is a copy by the
GPU's process, one between two memories a copy by the first process of the host.
"""
import argparse
import ctypes
import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

# Pieces of a flow over gloo, and how many of them are on their way at once.
PIECE_BYTES = 1 << 20
OUTSTANDING = 8
PING_PONGS = 24
MOST_TRIES = 2
LEAST_LEAD_S, MOST_LEAD_S = 2e-3, 0.2
RESOLUTION_S = 2e-6


def say(**what):
    sys.stdout.write("banyan-probe " + json.dumps(what, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def fail(why):
    """Ends this process with one line that says why."""
    sys.stderr.write(why + "\n")
    sys.stderr.flush()
    os._exit(3)


def start_here(count):
    """Starts `count` processes on this machine, passes on how they end, and lets none outlive the others or this one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    children = []

    def end(*_):
        for child in children:
            if child.poll() is None:
                child.kill()

    def die_with_parent():
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)

    signal.signal(signal.SIGTERM, lambda *_: (end(), os._exit(143)))
    words = [word for word in sys.argv]
    at = words.index("--np")
    del words[at : at + 2]
    for rank in range(count):
        env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(count))
        env.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), LOCAL_WORLD_SIZE=str(count))
        children.append(subprocess.Popen([sys.executable] + words, env=env, preexec_fn=die_with_parent))
    open_ones = set(range(count))
    while open_ones:
        for rank in sorted(open_ones):
            code = children[rank].poll()
            if code is None:
                continue
            open_ones.discard(rank)
            if code != 0:
                end()
                if code < 0:
                    sys.stderr.write("process %d of %d ended with signal %d\n" % (rank, count, -code))
                return 3
        time.sleep(0.02)
    return 0


def read_list(text, endpoints, reaches):
    """Returns the experiments of a list as (bytes, repeats, flows). Raises ValueError."""
    lines = text.split("\n")
    if lines[0] != "banyan-probe-list 1":
        raise ValueError("the list is none of this version (banyan-probe-list 1)")
    found = []
    for number, line in enumerate(lines[1:], 2):
        if line.startswith("end "):
            if line != "end %d" % len(found) or any(lines[number:]):
                raise ValueError("line %d of the list has another number of experiments than there are" % number)
            return found
        if re.fullmatch(r"\d+ [1-9]\d*( \d+>\d+)+", line) is None:
            raise ValueError("line %d of the list has no BYTES REPEATS S>T ..." % number)
        size, repeats, *flows = line.split(" ")
        flows = [tuple(int(end) for end in flow.split(">")) for flow in flows]
        for source, target in flows:
            if max(source, target) >= endpoints or source == target or not reaches(source, target):
                raise ValueError("line %d of the list has a flow that cannot be sent: %d>%d" % (number, source, target))
        found.append((int(size), int(repeats), flows))
    raise ValueError("the list has no end: it was cut off")


def numa_nodes():
    """Returns the cores of each NUMA node that has some, as sets."""
    nodes = []
    base = "/sys/devices/system/node"
    names = os.listdir(base) if os.path.isdir(base) else []
    for name in sorted((name for name in names if re.fullmatch(r"node\d+", name)), key=lambda name: int(name[4:])):
        with open("%s/%s/cpulist" % (base, name)) as file:
            text = file.read().strip()
        cores = set()
        for part in filter(None, text.split(",")):
            low, _, high = part.partition("-")
            cores.update(range(int(low), int(high or low) + 1))
        if cores:
            nodes.append(cores)
    return nodes or [os.sched_getaffinity(0)]


class Prober:
    def __init__(self, torch, backend, rank, size):
        self.torch, self.dist, self.backend = torch, torch.distributed, backend
        self.rank, self.size = rank, size
        self.cuda = torch.cuda.is_available() and backend == "nccl"
        self.device = torch.device("cuda", torch.cuda.current_device()) if self.cuda else torch.device("cpu")
        # what processes say to each other is no flow
        self.control = self.dist.new_group(backend="gloo") if backend != "gloo" else None
        self.buffers = {}
        self.nodes = numa_nodes() if self.cuda else []
        boot = ""
        if os.path.exists("/proc/sys/kernel/random/boot_id"):
            with open("/proc/sys/kernel/random/boot_id") as file:
                boot = file.read().strip()
        members = [None] * size
        self.dist.all_gather_object(
            members, (socket.gethostname(), boot, os.cpu_count(), len(self.nodes)), group=self.control
        )
        self.members = members
        self.endpoints = [("npu", member[0], member, r) for r, member in enumerate(members)]
        seen = set()
        for r, member in enumerate(members):
            if member[0] not in seen:
                seen.add(member[0])
                self.endpoints += [("cpu", member[0], node, r) for node in range(member[3])]
        self.offset = [0.0] * size
        self.resolution = RESOLUTION_S

    def reaches(self, source, target):
        a, b = self.endpoints[source], self.endpoints[target]
        return (a[0] == "npu" and b[0] == "npu") or a[1] == b[1]

    def worker(self, flow):
        """Returns the processes that do a flow: one each end, or the one that copies, twice."""
        a, b = (self.endpoints[end] for end in flow)
        if a[0] == "npu" and b[0] == "npu":
            return a[3], b[3]
        own = a if a[0] == "npu" else b
        return own[3], own[3]

    # messages about the work

    def tell(self, other, values):
        self.dist.send(self.torch.tensor(values, dtype=self.torch.float64), other, group=self.control, tag=1)

    def hear(self, other, count):
        heard = self.torch.empty(count, dtype=self.torch.float64)
        self.dist.recv(heard, other, group=self.control, tag=1)
        return heard.tolist()

    def same_clock(self, other):
        return self.members[0][1] != "" and self.members[0][1] == self.members[other][1]

    def sync(self, ranks):
        """Rank 0 learns how far the clocks of other machines are ahead, by the fastest of several ping-pongs."""
        for other in ranks:
            if other == 0 or self.same_clock(other) or self.rank not in (0, other):
                continue
            trips = []
            for _ in range(PING_PONGS):
                if self.rank == 0:
                    before = time.monotonic()
                    self.tell(other, [before])
                    (theirs,) = self.hear(other, 1)
                    after = time.monotonic()
                    trips.append((after - before, theirs - (before + after) / 2))
                else:
                    self.hear(0, 1)
                    self.tell(0, [time.monotonic()])
            if trips:
                trips.sort()
                self.offset[other] = trips[0][1]
                self.resolution = max(self.resolution, (trips[len(trips) // 4][0] - trips[0][0]) / 2)

    # flows

    def buffer(self, key, size):
        """Returns memory of that many bytes: of the device, or, for ("cpu", node, _), pinned and near a NUMA node."""
        held = self.buffers.get(key)
        if held is None or held.numel() < size:
            if key[0] == "cpu":
                before = os.sched_getaffinity(0)
                os.sched_setaffinity(0, self.nodes[key[1]])
                try:
                    held = self.torch.zeros(max(size, 1), dtype=self.torch.uint8).pin_memory()
                finally:
                    os.sched_setaffinity(0, before)
            else:
                held = self.torch.zeros(max(size, 1), dtype=self.torch.uint8, device=self.device)
            self.buffers[key] = held
        return held[:size]

    def pieces(self, number, flow, size, sends):
        """Sends or receives a flow over gloo, in pieces, several at a time. Returns when it is done."""
        other = flow[1] if sends else flow[0]
        whole = self.buffer((number, sends), min(max(size, 1), PIECE_BYTES * OUTSTANDING))
        lengths = [min(PIECE_BYTES, size - at) for at in range(0, max(size, 1), PIECE_BYTES)] if size > 0 else [1]
        under_way = []
        for at, length in enumerate(lengths):
            slot = (at % OUTSTANDING) * PIECE_BYTES
            if len(under_way) == OUTSTANDING:
                under_way.pop(0).wait()
            part = whole[slot : slot + length]
            begin = self.dist.isend if sends else self.dist.irecv
            under_way.append(begin(part, other, tag=10 + number))
        for request in under_way:
            request.wait()
        return time.monotonic()

    def copy(self, number, flow, size, stream):
        """Copies between memories of this host. Returns when it is done."""
        memories = []
        for end in flow:
            kind, _, node, _ = self.endpoints[end]
            if kind == "cpu":
                memories.append(self.buffer(("cpu", node, number), max(size, 1)))
            else:
                memories.append(self.buffer(("gpu", number), max(size, 1)))
        with self.torch.cuda.stream(stream):
            memories[1].copy_(memories[0], non_blocking=True)
        stream.synchronize()
        return time.monotonic()

    def repeat(self, size, flows, start):
        """Does this process's part of the flows. Returns how late it began, and when what it received was there."""
        ends = [math.nan] * len(flows)
        failed = []

        def do(number, work):
            try:
                wait_until(start)
                done = work()
                if done is not None:
                    ends[number] = done - start
            except Exception as error:
                failed.append(error)

        threads = []
        points = []
        for number, flow in enumerate(flows):
            source, target = self.worker(flow)
            if self.rank not in (source, target):
                continue
            if source == target:
                stream = self.torch.cuda.Stream(self.device)
                work = lambda n=number, f=flow, s=stream: self.copy(n, f, size, s)
                threads.append(threading.Thread(target=do, args=(number, work)))
            elif self.backend == "gloo":
                sends = self.rank == source

                def work(n=number, f=flow, s=sends):
                    done = self.pieces(n, f, size, s)
                    return None if s else done

                threads.append(threading.Thread(target=do, args=(number, work)))
            else:
                data = self.buffer((number, self.rank == source), max(size, 1))
                begin = self.dist.isend if self.rank == source else self.dist.irecv
                points.append((number, self.dist.P2POp(begin, data, flow[1] if self.rank == source else flow[0])))
        for thread in threads:
            thread.start()
        wait_until(start)
        late = time.monotonic() - start
        if points:
            for request in self.dist.batch_isend_irecv([point for _, point in points]):
                request.wait()
            self.torch.cuda.synchronize()
            done = time.monotonic()
            for number, _ in points:
                if self.worker(flows[number])[1] == self.rank:
                    ends[number] = done - start
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]
        return [late] + ends

    def experiment(self, number, size, repeats, flows, lead):
        """Does an experiment; rank 0 conducts it. Returns the lead time of the next."""
        ranks = sorted({rank for flow in flows for rank in self.worker(flow)})
        if self.rank not in ranks and self.rank != 0:
            return lead
        self.sync(ranks)
        done, tries = 0, 0
        while True:
            if self.rank == 0:
                for other in ranks:
                    if other != 0:
                        self.hear(other, 1)
                at = time.monotonic() + lead
                over = done == repeats
                for other in ranks:
                    if other != 0:
                        self.tell(other, [math.nan if over else at + self.offset[other]])
            else:
                self.tell(0, [0.0])
                (at,) = self.hear(0, 1)
                over = math.isnan(at)
            if over:
                return lead
            own = self.repeat(size, flows, at) if self.rank in ranks else [0.0] + [math.nan] * len(flows)
            if self.rank != 0:
                self.tell(0, own)
                continue
            for other in ranks:
                if other == 0:
                    continue
                theirs = self.hear(other, len(own))
                own[0] = max(own[0], theirs[0])
                own[1:] = [a if math.isnan(b) else b for a, b in zip(own[1:], theirs[1:])]
            was_late = own[0] > max(100e-6, 0.02 * max(own[1:]))
            lead = min(MOST_LEAD_S, max(LEAST_LEAD_S, lead * (2 if was_late else 0.95)))
            tries += 1
            if was_late and tries < MOST_TRIES:
                continue
            tries = 0
            say(experiment=number, repeat=done, late=own[0], seconds=own[1:])
            done += 1

    def connect(self):
        """Every pair talks once, so that no flow pays for its connection."""
        for shift in range(1, self.size):
            to, of = (self.rank + shift) % self.size, (self.rank - shift) % self.size
            data = [self.torch.zeros(1, dtype=self.torch.uint8, device=self.device) for _ in range(2)]
            if self.backend == "gloo":
                requests = [self.dist.isend(data[0], to, tag=2), self.dist.irecv(data[1], of, tag=2)]
            else:
                pairs = [self.dist.P2POp(self.dist.isend, data[0], to), self.dist.P2POp(self.dist.irecv, data[1], of)]
                requests = self.dist.batch_isend_irecv(pairs)
            for request in requests:
                request.wait()


def wait_until(start):
    rest = start - time.monotonic() - 500e-6
    if rest > 0:
        time.sleep(rest)
    while time.monotonic() < start:
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", choices=["gloo", "nccl"], required=True)
    parser.add_argument("--list", required=True)
    parser.add_argument("--np", type=int)
    args = parser.parse_args()
    try:
        import torch
        import torch.distributed as dist
    except ImportError as error:
        fail("PyTorch is not installed for %s: %s" % (sys.executable, error))
    if not dist.is_available():
        fail("this PyTorch was built without torch.distributed")
    if args.backend == "nccl" and not torch.cuda.is_available():
        fail("nccl needs GPUs, and PyTorch sees none here; --backend gloo measures between hosts")
    if args.backend == "nccl" and not dist.is_nccl_available():
        fail("this PyTorch was built without NCCL")
    if args.np is not None:
        if args.np < 2:
            fail("a probe needs 2 processes or more")
        if args.backend == "nccl" and args.np > torch.cuda.device_count():
            fail("there are %d GPUs here for %d processes" % (torch.cuda.device_count(), args.np))
        sys.exit(start_here(args.np))
    missing = [name for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if missing:
        fail("the launcher sets no %s; start with torchrun, or say --np" % ", ".join(missing))
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if size < 2:
        fail("there is one process; a probe needs 2 or more")
    if args.backend == "nccl":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", rank % torch.cuda.device_count())))
    dist.init_process_group(args.backend)
    prober = Prober(torch, args.backend, rank, size)
    text = [None]
    if rank == 0:
        try:
            with open(args.list) as file:
                text = [file.read()]
            read_list(text[0], len(prober.endpoints), prober.reaches)
        except (OSError, ValueError) as error:
            say(refused=str(error))
            text = [None]
    dist.broadcast_object_list(text, 0, group=prober.control)
    if text[0] is None:
        os._exit(3)
    experiments = read_list(text[0], len(prober.endpoints), prober.reaches)
    prober.connect()
    prober.sync(range(size))
    if rank == 0:
        say(ranks=size, experiments=len(experiments), resolutionS=prober.resolution)
        for number, (kind, host, _, owner) in enumerate(prober.endpoints):
            say(rank=number, kind=kind, host=host, cores=prober.members[owner][2])
    lead = LEAST_LEAD_S
    for number, (length, repeats, flows) in enumerate(experiments):
        lead = prober.experiment(number, length, repeats, flows, lead)
    if rank == 0:
        say(end=len(experiments))
    dist.barrier(group=prober.control)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
