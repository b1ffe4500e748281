import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark, Program } from './benchmark.ts';

const BIN = join(import.meta.dirname, '../dist/main.js');

/** A program that does nothing takes what every program of Node takes before it begins. */
const nothing: Program = { argv: () => ['-e', '0'], check: () => undefined };

function callsheet(args: readonly string[], says: RegExp): Program {
  return {
    argv: () => [BIN, ...args],
    check: (output) => {
      if (!says.test(output)) throw new Error(`callsheet ${args.join(' ')} printed:\n${output}`);
    },
  };
}

/** A file for each agent, with a prompt of a page, as teams have them. */
function writeAgents(dir: string, size: number): void {
  writeFileSync(
    join(dir, 'callsheet.yaml'),
    'callsheet: 1\norganizations: { harbor: 3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11 }\norganization: harbor\n',
  );
  mkdirSync(join(dir, 'agents'));
  const prompt = '      You answer the phone of a clinic, kindly and briefly.\n'.repeat(30);
  for (let at = 0; at < size; at += 1) {
    const text = `agents:\n  a${at}:\n    name: Agent ${at}\n    system_prompt: |\n${prompt}`;
    writeFileSync(join(dir, 'agents', `a${at}.yaml`), text);
  }
}

export const startup: Benchmark = {
  name: 'startup',
  sizes: [1000],
  about: 'what a command takes before it does anything, against node -e 0.',
  cases: [
    { name: '--version', goal: 2, callsheet: callsheet(['--version'], /^\d/), floor: nothing },
    {
      name: 'plan --help',
      goal: 2.5,
      callsheet: callsheet(['plan', '--help'], /^Usage:/),
      floor: nothing,
    },
    // A person waits for it at a prompt: 150 ms are felt as at once.
    {
      name: 'completion',
      prepare: writeAgents,
      callsheet: callsheet(['__complete', 'zsh', 'plan', '--target', 'agent.a1'], /^agent\.a1\t$/m),
      floor: nothing,
    },
  ],
};
