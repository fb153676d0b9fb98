/**
 * The part of a program of torch that is the same for all schedules: what a rank does, in which order, with which elements.
 * It keeps the results of rounds: messages carry what their ranks have when the round begins.
 */
export const PLAN_TEXT = `

RUN_BYTES = 1 << 19  # neighbouring pieces of so many bytes go by themselves, smaller ones together

INPUT_BUFFER, OUTPUT_BUFFER, SCRATCH = range(3)


class Message:
    """What a rank sends or receives at once: where the elements are, and what is done before it leaves or after it came."""

    def __init__(self, peer, units, round):
        self.peer, self.units, self.round = peer, units, round
        self.place = None  # buffer, first element, elements
        self.copies = []  # (from, to): before a message leaves into the place, after one came out of it
        self.sums = []  # (what was there, what came, to)
        self.before = []  # messages in that must have been taken in before this
        self.after_sends = []  # messages out that must have left before this is taken in
        self.post = 0  # round from which on it may be awaited


def edge(unit, count):
    """Returns where a unit of a block of so many elements begins: the first ones get one more where they must."""
    return unit * (count // UNITS_PER_BLOCK) + min(unit, count % UNITS_PER_BLOCK)


def cut(count, parts):
    """Returns the elements of each part of each piece, and where it begins in its block, and its block."""
    sizes, begins, blocks = [], [], []
    for block, units in enumerate(PIECES):
        first = 0
        for length in units:
            low, high = edge(first, count), edge(first + length, count)
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
    """What a rank does for blocks of so many elements, its pieces cut in parts that follow each other a round apart."""

    def __init__(self, rank, count, itemsize, parts):
        self.sizes, begins, blocks = cut(count, parts)
        self.itemsize, self.received = itemsize, 0
        # sums that are not wanted here have places of their own, laid out like the input, before all else in the scratch buffer
        self.scratch = len(INPUT[rank]) * count if REDUCES else 0
        self.rounds = [([], []) for _ in range(len(ROUNDS) + parts - 1 if ROUNDS else 0)]  # messages out, messages in
        input_at = {block: k * count for k, block in enumerate(INPUT[rank])}
        output_at = {block: k * count for k, block in enumerate(OUTPUT[rank])}
        self.place = {}  # unit: what this rank has of it now
        self.wanted = {}  # unit: where it must be at the end
        for unit, (size, begin, block) in enumerate(zip(self.sizes, begins, blocks)):
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
            outs.sort(key=lambda message: ready[message.peer])
        self.expected = [[] for _ in self.rounds]  # for each round the messages in that may come from now on
        for _, ins in self.rounds:
            for message in ins:
                self.expected[message.post].append(message)
        here = [(self.place[unit], wanted) for unit, wanted in sorted(self.wanted.items()) if unit in self.place]
        self.own = merged([(a, b) for a, b in here if a[0] == INPUT_BUFFER])

    def messages(self, rank, round, parts):
        """Yields the messages of a round that a rank sends or receives, in their order: (source, target, units, whether they
        are added)."""
        for level in range(max(0, round - parts + 1), min(round + 1, len(ROUNDS))):
            part = round - level
            for source, target, stored, added in ROUNDS[level]:
                if rank in (source, target):
                    for pieces, adds in ((stored, False), (added, True)):
                        for units in self.runs([piece * parts + part for piece in pieces if self.sizes[piece * parts + part]]):
                            yield source, target, units, adds

    def runs(self, units):
        """Yields units in messages: neighbours that are large by themselves, the others together."""
        runs = []
        for unit in units:
            if runs and unit == runs[-1][-1] + 1:
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

    def changing(self, units):
        """Returns the messages in that changed any of the units so far, in their order."""
        return sorted({one for unit in units for one in self.taken.get(unit, ())}, key=lambda one: one.number)

    def message_out(self, peer, units, round):
        message = Message(peer, units, round)
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
        message = Message(peer, units, round)
        message.number = self.received = self.received + 1
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


def view(buffers, place):
    buffer, begin, length = place
    return buffers[buffer].narrow(0, begin, length)


class Run:
    """One call: the plan carried out on buffers (input, output, scratch). A tensor of a GPU goes round by round, all messages
    of a round in one batch; others are awaited as early as they may come, and what is there goes on at once."""

    def __init__(self, plan, buffers, peers, group, combine):
        self.plan, self.buffers, self.peers, self.group, self.combine = plan, buffers, peers, group, combine
        self.requests, self.taken = {}, set()

    def pack(self, message):
        for source, target in message.copies:
            view(self.buffers, target).copy_(view(self.buffers, source))
        return view(self.buffers, message.place)

    def unpack(self, message):
        for source, target in message.copies:
            view(self.buffers, target).copy_(view(self.buffers, source))
        for there, came, target in message.sums:
            self.combine(view(self.buffers, there), view(self.buffers, came), out=view(self.buffers, target))

    def copy_own(self):
        for source, target in self.plan.own:
            a, b = view(self.buffers, source), view(self.buffers, target)
            if a.data_ptr() != b.data_ptr():
                b.copy_(a)

    def batches(self):
        for outs, ins in self.plan.rounds:
            operations = [dist.P2POp(dist.isend, self.pack(one), self.peers[one.peer], self.group) for one in outs]
            operations += [dist.P2POp(dist.irecv, view(self.buffers, one.place), self.peers[one.peer], self.group) for one in ins]
            for request in dist.batch_isend_irecv(operations) if operations else []:
                request.wait()
            for message in ins:
                self.unpack(message)
        self.copy_own()

    def wait(self, message):
        request = self.requests.pop(message, None)
        if request is not None:
            request.wait()

    def take(self, message):
        """Takes a message in, after those before it."""
        if message in self.taken:
            return
        self.taken.add(message)
        for one in message.before:
            self.take(one)
        self.wait(message)
        if message.copies or message.sums:
            for one in message.after_sends:
                self.wait(one)
            self.unpack(message)

    def expect(self, message):
        """Lets a message come in."""
        if not (message.copies or message.sums):
            for one in message.before:
                self.take(one)
            for one in message.after_sends:
                self.wait(one)
        place = view(self.buffers, message.place)
        self.requests[message] = dist.irecv(place, self.peers[message.peer], group=self.group)

    def at_once(self):
        for (outs, _), expected in zip(self.plan.rounds, self.plan.expected):
            for message in expected:
                self.expect(message)
            for message in outs:
                for one in message.before:
                    self.take(one)
                place = self.pack(message)
                self.requests[message] = dist.isend(place, self.peers[message.peer], group=self.group)
        self.copy_own()
        for _, ins in self.plan.rounds:
            for message in ins:
                self.take(message)
        for message in list(self.requests):
            self.wait(message)
`;
