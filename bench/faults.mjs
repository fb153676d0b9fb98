// Faults on purpose: node bench/faults.mjs [part [share [seed]]]. Parts, all where none is named:
//   kernels   the n-th allocation, and the n-th thread, of every native kernel fails, for every n
//   files     the n-th call of the system on the files of eleven commands fails, for every n, in nine ways
//   processes some of these, and every call killed before and behind it, with the command line as a process of its own
console.log("");
