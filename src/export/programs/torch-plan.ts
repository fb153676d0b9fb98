/**
 * The part of a program of torch that is the same for all schedules: what a rank does, in which order, with which elements.
 * It keeps the results of rounds: messages carry what their ranks have when the round begins.
 */
export const PLAN_TEXT = `

RUN_BYTES = 1 << 19  # neighbouring pieces of this many bytes go by themselves, smaller ones together
SMALL_BYTES = 1 << 17  # on CPUs, where messages would have fewer bytes on average, data goes fewer ways


def mean_message():
    """Returns how much of a block messages carry on average."""
    lengths = [length / UNITS_PER_BLOCK for lengths in PIECES for length in lengths]
    messages = [sum(lengths[piece] for piece in stored + added) for line in ROUNDS for _, _, stored, added in line]
    return sum(messages) / max(1, len(messages))


MEAN_MESSAGE = mean_message()

INPUT_BUFFER, OUTPUT_BUFFER, SCRATCH = range(3)
RECEIVE, SEND, WAIT, UNPACK, COPY_OWN = range(5)


class Message:
    """What a rank sends or receives at once: where the elements are, and what is done before it leaves or after it came."""

    def __init__(self, peer, units, round, number):
        self.peer, self.units, self.round, self.number = peer, units, round, number
        self.place = None  # buffer, first element, elements
        self.copies = []  # (from, to): before a message leaves into the place, after one came out of it
        self.sums = []  # (what was there, what came, to)
        self.before = []  # messages in that must have been taken in before this
        self.after_sends = []  # messages out that must have left before this is taken in
        self.post = 0  # round from which on it may be awaited


def edge(unit, units, count):
    """Returns where one of the units of a block of this many elements begins: the first ones get one more where they must."""
    return unit * (count // units) + min(unit, count % units)


def cut(count, parts, pieces):
    """Returns the elements of each part of each piece, where it begins in its block, and its block."""
    sizes, begins, blocks = [], [], []
    for block, lengths in enumerate(pieces):
        first, units = 0, sum(lengths)
        for length in lengths:
            low, high = edge(first, units, count), edge(first + length, units, count)
            edges = [low + (high - low) * part // parts for part in range(parts + 1)]
            sizes.extend(b - a for a, b in zip(edges, edges[1:]))
            begins.extend(edges[:-1])
            blocks.extend([block] * parts)
            first += length
    return sizes, begins, blocks


def merged(moves):
    """Returns moves (tuples of places) with neighbours put together: all places of one go on where those of the last end."""
    result = []
    for move in moves:
        last = result[-1] if result else None
        if last and all(a[0] == b[0] and a[1] + a[2] == b[1] for a, b in zip(last, move)):
            result[-1] = tuple((a[0], a[1], a[2] + b[2]) for a, b in zip(last, move))
        else:
            result.append(move)
    return result


class Plan:
    """What a rank does for blocks of this many elements, its pieces cut in parts that follow each other a round apart."""

    def __init__(self, rank, count, itemsize, parts, pieces):
        self.sizes, begins, self.blocks = cut(count, parts, pieces)
        self.itemsize, self.numbered = itemsize, 0
        # sums that are not wanted here have places of their own, laid out like the input, before all else in the scratch buffer
        self.scratch = len(INPUT[rank]) * count if REDUCES else 0
        self.rounds = [([], []) for _ in range(len(ROUNDS) + parts - 1 if ROUNDS else 0)]  # messages out, messages in
        input_at = {block: k * count for k, block in enumerate(INPUT[rank])}
        output_at = {block: k * count for k, block in enumerate(OUTPUT[rank])}
        self.place = {}  # unit: what this rank has of it now
        self.wanted = {}  # unit: where it must be at the end
        for unit, (size, begin, block) in enumerate(zip(self.sizes, begins, self.blocks)):
            if block in input_at:
                self.place[unit] = (INPUT_BUFFER, input_at[block] + begin, size)
            if block in output_at:
                self.wanted[unit] = (OUTPUT_BUFFER, output_at[block] + begin, size)
        self.taken = {}  # unit: messages in that change it, so far
        self.read = {}  # unit: messages out that carry it from where it is, so far
        posted = {}
        for round, (outs, ins) in enumerate(self.rounds):
            for source, target, units, adds in self.messages(rank, round, parts):
                if source == rank:
                    outs.append(self.message_out(target, units, round))
            for source, target, units, adds in self.messages(rank, round, parts):
                if target == rank:
                    ins.append(self.message_in(source, units, adds, round))
                    posted[source] = ins[-1].post = max(posted.get(source, 0), ins[-1].post)
            ready = {}  # peer: the last round that its messages wait for
            for message in outs:
                ready[message.peer] = max([one.round for one in message.before] + [ready.get(message.peer, -1)])
            # what is ready first; of that each rank begins with another peer
            outs.sort(key=lambda message: (ready[message.peer], (message.peer - rank) % RANKS))
        here = [(self.place[unit], wanted) for unit, wanted in sorted(self.wanted.items()) if unit in self.place]
        self.own = merged([(a, b) for a, b in here if a[0] == INPUT_BUFFER])
        self.steps = self.in_steps()
        self.scratch_is, self.views = None, {}

    def in_steps(self):
        """Returns what is done one after the other where rounds are not kept: (what, message)."""
        steps, open_requests, taken = [], set(), set()

        def begin(kind, message):
            open_requests.add(message)
            steps.append((kind, message))

        def wait(messages):
            for message in messages:
                if message in open_requests:
                    open_requests.remove(message)
                    steps.append((WAIT, message))

        def take(messages):
            for message in messages:
                if message not in taken:
                    taken.add(message)
                    take(message.before)
                    wait([message])
                    if message.copies or message.sums:
                        wait(message.after_sends)
                        steps.append((UNPACK, message))

        incoming = [message for _, ins in self.rounds for message in ins]
        for round, (outs, _) in enumerate(self.rounds):
            for message in [one for one in incoming if one.post == round]:
                if not (message.copies or message.sums):
                    take(message.before)
                    wait(message.after_sends)
                begin(RECEIVE, message)
            for message in outs:
                take(message.before)
                begin(SEND, message)
        steps.append((COPY_OWN, None))
        take(incoming)
        wait(sorted(open_requests, key=lambda one: one.number))
        return steps

    def messages(self, rank, round, parts):
        """Yields the messages of a round that a rank sends or receives, in their order: (source, target, units, whether they
        are added)."""
        for level in range(max(0, round - parts + 1), min(round + 1, len(ROUNDS))):
            part = round - level
            for source, target, stored, added in ROUNDS[level]:
                if rank in (source, target):
                    for pieces, adds in ((stored, False), (added, True)):
                        for units in self.runs([piece * parts + part for piece in pieces if self.sizes[piece * parts + part]], target):
                            yield source, target, units, adds

    def runs(self, units, target):
        """Yields units in messages: neighbours that are large by themselves, the others together. Those that the target wants
        for itself are no neighbours of those that it passes on."""
        runs = []
        for unit in units:
            wanted = [self.blocks[one] in OUTPUT[target] for one in (unit - 1, unit)]
            if runs and unit == runs[-1][-1] + 1 and wanted[0] == wanted[1]:
                runs[-1].append(unit)
            else:
                runs.append([unit])
        large = [run for run in runs if sum(self.sizes[unit] for unit in run) * self.itemsize >= RUN_BYTES]
        yield from large
        rest = [unit for run in runs if run not in large for unit in run]
        if rest:
            yield rest

    def room(self, units):
        """Returns a new place in the scratch buffer for units."""
        begin = self.scratch
        self.scratch += sum(self.sizes[unit] for unit in units)
        return (SCRATCH, begin, self.scratch - begin)

    def each(self, place, units):
        """Returns the units with their places in one that they share."""
        buffer, begin, _ = place
        places = []
        for unit in units:
            places.append((unit, (buffer, begin, self.sizes[unit])))
            begin += self.sizes[unit]
        return places

    def next_number(self):
        self.numbered += 1
        return self.numbered

    def changing(self, units):
        """Returns the messages in that changed any of the units so far, in their order."""
        return sorted({one for unit in units for one in self.taken.get(unit, ())}, key=lambda one: one.number)

    def message_out(self, peer, units, round):
        message = Message(peer, units, round, self.next_number())
        message.before = self.changing(units)
        places = merged([(self.place[unit],) for unit in units])
        if len(places) == 1:
            (message.place,) = places[0]
        else:
            message.place = self.room(units)
            message.copies = merged([(self.place[unit], place) for unit, place in self.each(message.place, units)])
        for unit in units:
            self.read.setdefault(unit, []).append(message)
        return message

    def message_in(self, peer, units, adds, round):
        message = Message(peer, units, round, self.next_number())
        message.before = self.changing(units)
        readers = [one for unit in units for one in self.read.get(unit, ())]
        message.after_sends = [one for one in readers if not one.copies]
        targets = merged([(self.wanted[unit],) for unit in units]) if all(unit in self.wanted for unit in units) else []
        if not adds and len(targets) == 1 and all(one.round < round for one in readers):
            (message.place,) = targets[0]
            message.post = max([one.round + 1 for one in message.before + readers], default=0)
            self.place.update((unit, self.wanted[unit]) for unit in units)
        else:
            message.place = self.room(units)
            for unit, place in self.each(message.place, units):
                there = self.place.get(unit) if adds else None
                goal = self.wanted.get(unit)
                if there is None:
                    if goal:
                        message.copies.append((place, goal))
                else:
                    goal = goal or (SCRATCH, *there[1:])
                    message.sums.append((there, place, goal))
                self.place[unit] = goal or place
            message.copies, message.sums = merged(message.copies), merged(message.sums)
        for unit in units:
            self.taken.setdefault(unit, []).append(message)
        return message


class Run:
    """One call: the plan carried out on input, output and scratch buffer."""

    def __init__(self, plan, x, y, scratch, peers, group, combine):
        self.plan, self.buffers, self.peers, self.group, self.combine = plan, (x, y, scratch), peers, group, combine
        if plan.scratch_is is not scratch:
            plan.scratch_is, plan.views = scratch, {}
        self.views = plan.views  # of the scratch buffer, which stays from call to call

    def view(self, place):
        found = self.views.get(place)
        if found is None:
            buffer, begin, length = place
            found = self.buffers[buffer].narrow(0, begin, length)
            if buffer == SCRATCH:
                self.views[place] = found
        return found

    def pack(self, message):
        for source, target in message.copies:
            self.view(target).copy_(self.view(source))
        return self.view(message.place)

    def unpack(self, message):
        for source, target in message.copies:
            self.view(target).copy_(self.view(source))
        for there, came, target in message.sums:
            self.combine(self.view(there), self.view(came), out=self.view(target))

    def copy_own(self):
        for source, target in self.plan.own:
            a, b = self.view(source), self.view(target)
            if a.data_ptr() != b.data_ptr():
                b.copy_(a)

    def batches(self):
        """Round by round, all messages of a round in one batch, as NCCL wants them."""
        for outs, ins in self.plan.rounds:
            operations = [dist.P2POp(dist.isend, self.pack(one), self.peers[one.peer], self.group) for one in outs]
            operations += [dist.P2POp(dist.irecv, self.view(one.place), self.peers[one.peer], self.group) for one in ins]
            for request in dist.batch_isend_irecv(operations) if operations else []:
                request.wait()
            for message in ins:
                self.unpack(message)
        self.copy_own()

    def steps(self):
        """Step by step, messages awaited as early as they may come, which spares gloo a way and back for each."""
        requests = {}
        for kind, message in self.plan.steps:
            if kind == WAIT:
                requests.pop(message).wait()
            elif kind == UNPACK:
                self.unpack(message)
            elif kind == RECEIVE:
                requests[message] = dist.irecv(self.view(message.place), self.peers[message.peer], group=self.group)
            elif kind == SEND:
                requests[message] = dist.isend(self.pack(message), self.peers[message.peer], group=self.group)
            else:
                self.copy_own()
`;
