/** What is done on the server in one piece, and in one round trip. */
interface Script {
  readonly name: string;
  readonly keys: number;
  readonly lua: string;
}

/** The server's time in milliseconds, so that clocks of machines do not matter. */
const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

export const SCRIPTS = {
  /** Keeps what came of a task, the first of each hash; nothing for a sweep that is no more. */
  keep: {
    name: "banyanKeep",
    keys: 3, // sweeps, results, done
    lua: `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
if redis.call('HSETNX', KEYS[2], ARGV[2], ARGV[3]) == 1 then
  redis.call('RPUSH', KEYS[3], ARGV[2])
  redis.call('EXPIRE', KEYS[2], ARGV[4])
  redis.call('EXPIRE', KEYS[3], ARGV[4])
end
return 1`,
  },
  /** Takes the news: hashes, and what came of them. */
  take: {
    name: "banyanTake",
    keys: 2, // done, results
    lua: `local hashes = redis.call('LRANGE', KEYS[1], 0, ARGV[1] - 1)
if #hashes == 0 then return {{}, {}} end
redis.call('LTRIM', KEYS[1], #hashes, -1)
return {hashes, redis.call('HMGET', KEYS[2], unpack(hashes))}`,
  },
  /** Says that a worker is there; returns the sweeps that were cancelled, all sweeps, and when their coordinators last said that they are there. */
  workerBeat: {
    name: "banyanWorkerBeat",
    keys: 5, // workers, their beats, sweeps, their beats, cancelled
    lua: `${NOW}
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], now, ARGV[1])
return {redis.call('ZRANGE', KEYS[5], 0, -1), redis.call('HGETALL', KEYS[3]), redis.call('ZRANGE', KEYS[4], 0, -1, 'WITHSCORES'), now}`,
  },
  /** Says that a coordinator is there; forgets workers that are not, and sweeps that nobody has asked for in a long time; returns workers and refusals. */
  sweepBeat: {
    name: "banyanSweepBeat",
    keys: 6, // workers, their beats, sweeps, their beats, refusals, cancelled
    lua: `${NOW}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[3])) do
  redis.call('HDEL', KEYS[1], id)
  redis.call('ZREM', KEYS[2], id)
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', now - ARGV[4])) do
  redis.call('HDEL', KEYS[3], id)
  redis.call('ZREM', KEYS[4], id)
end
redis.call('ZREMRANGEBYSCORE', KEYS[6], '-inf', now - ARGV[4])
local cancelled = 1
if not redis.call('ZSCORE', KEYS[6], ARGV[1]) then
  cancelled = 0
  redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
  redis.call('ZADD', KEYS[4], now, ARGV[1])
end
return {cancelled, redis.call('HVALS', KEYS[1]), redis.call('XRANGE', KEYS[5], ARGV[5], '+')}`,
  },
  /** Says that a sweep is cancelled. */
  cancel: {
    name: "banyanCancel",
    keys: 1, // cancelled
    lua: `${NOW}
redis.call('ZADD', KEYS[1], now, ARGV[1])`,
  },
  /** Returns what is known of sweeps and workers, and the server's time. */
  board: {
    name: "banyanBoard",
    keys: 4, // workers, their beats, sweeps, their beats
    lua: `${NOW}
return {redis.call('HGETALL', KEYS[1]), redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES'),
  redis.call('HGETALL', KEYS[3]), redis.call('ZRANGE', KEYS[4], 0, -1, 'WITHSCORES'), now}`,
  },
} as const satisfies Record<string, Script>;
