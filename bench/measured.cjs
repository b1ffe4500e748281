// Loaded before a program that is measured: says at its end what it took, on a pipe of its own. As it is plain and not
// a module, it adds a millisecond to what is measured, and not fifty.
const { writeSync } = require('node:fs');

process.once('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  // The clock begins with the process, so what it takes to load the program counts.
  const took = { ms: performance.now(), cpu: (userCPUTime + systemCPUTime) / 1000, kib: maxRSS };
  writeSync(3, JSON.stringify(took));
});
