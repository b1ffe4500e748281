// runs in a worktree's bench folder: prepares and answers "plan <format>" lines with ms
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { AT_ONCE, MAIN, ROUND, servePlan, removeFleets } from './fleet/served.ts';
import { CLEAN_ENV, runProcess } from './process.ts';
const size = Number(process.argv[2] ?? 10000);
const dir = mkdtempSync(join(tmpdir(), 'pair-'));
const s = await servePlan('rows')(dir, { size, latency: 0 });
const env = { ...CLEAN_ENV, ...s.env };
let round = 0;
const { ROUND_FILE } = await import('./fleet/stack.ts');
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'end') break;
  round += 1;
  const greeting = `Good day (${line.includes('same') ? 1 : round}), this is`;
  writeFileSync(join(dir, ROUND_FILE), `${JSON.stringify({ few: greeting, changed: greeting })}\n`);
  await s.before?.();
  const flags = line.split(' ').slice(1);
  const at = performance.now();
  const { output, took } = await runProcess([MAIN, 'plan', ...flags, ...ROUND, ...AT_ONCE], dir, env);
  const ms = performance.now() - at;
  process.stdout.write(`${Math.round(ms)} ${JSON.stringify(took).slice(0, 150)} ${output.length} ${/Plan: [^\n]*/.exec(output)?.[0] ?? ''}\n`);
}
await s.close();
await removeFleets();
process.exit(0);
