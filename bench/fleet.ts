import { join } from 'node:path';
import type { Benchmark, Case, Program } from './benchmark.ts';
import { CONCURRENCY } from './fleet/concurrency.ts';
import {
  AT_ONCE,
  BASE_FILE,
  EXPORTED,
  FAR_MS,
  GONE,
  MAIN,
  PLAIN,
  ROUND,
  removeFleets,
  SNAPSHOT_FILE,
  serveAdopt,
  serveApplied,
  serveApply,
  serveBackup,
  serveBranch,
  serveCreate,
  serveEdited,
  serveLong,
  servePlan,
  servePrompt,
  serveRestore,
  serveSealed,
  serveSecrets,
  serveUpdate,
} from './fleet/served.ts';
import { CHANGED, FEW, type Layout, textSize } from './fleet/stack.ts';
import { floor as parsed, callsheet as validated } from './validate.ts';

/** A plan that finds so many agents to change: none unless given. */
function planned(flags: readonly string[], changed = 0): Program {
  return {
    argv: () => [MAIN, 'plan', '--format', 'json', ...AT_ONCE, ...flags],
    check: (output, size) => {
      const { changes, summary } = JSON.parse(output);
      if (changes.length !== changed || summary.no_op !== size - changed)
        throw new Error(`not ${changed} of ${size} agents change: ${JSON.stringify(summary)}`);
    },
  };
}

/** An apply that does this to so many agents. */
function applied(
  argv: readonly string[],
  action: 'create' | 'update' | 'adopt',
  count: (size: number) => number,
): Program {
  return {
    argv: () => [MAIN, 'apply', ...argv, '--format', 'json', ...AT_ONCE],
    check: (output, size) => {
      const done = JSON.parse(output).ledger.filter(
        (row: { action: string; status: string }) => row.action === action && row.status === 'done',
      );
      if (done.length !== count(size)) throw new Error(`${done.length} have ${action} done`);
    },
  };
}

const ofFew = (size: number) => Math.min(size, FEW);
const ofChanged = (size: number) => Math.min(size, CHANGED);
const ofAll = (size: number) => size;

/** The plan lies there already, as in a pipeline that waited for a review. */
const appliedFile = applied(['plan.json', ...ROUND], 'update', ofChanged);
const updated = applied(['--auto-approve', ...ROUND], 'update', ofFew);
const created = applied(['--auto-approve'], 'create', ofAll);
const adopted = applied(['--auto-approve'], 'adopt', ofAll);

/** What brings the fleet back to what it was, its run still the last one. */
const rolledBack: Program = {
  argv: () => [MAIN, 'rollback', '--auto-approve', '--format', 'json', ...AT_ONCE],
  check: (output, size) => {
    const { status, ledger } = JSON.parse(output);
    if (status !== 'done' || ledger.length !== ofChanged(size))
      throw new Error(`${status}: ${ledger.length} of ${ofChanged(size)} agents`);
  },
};

const restored: Program = {
  argv: () => [MAIN, 'restore', GONE, '--auto-approve', '--format', 'json', ...AT_ONCE],
  check: (output, size) => {
    const { status, proof } = JSON.parse(output);
    if (status !== 'done' || proof.resources !== size)
      throw new Error(`${status}: ${JSON.stringify(proof)}`);
  },
};
/** A command that writes all agents into files. */
function read(argv: readonly string[]): Program {
  return {
    argv: () => [MAIN, ...argv, '--format', 'json'],
    check: (output, size) => {
      const { resources } = JSON.parse(output);
      const count = Array.isArray(resources)
        ? resources.find(({ kind }: { kind: string }) => kind === 'agent')?.count
        : resources.agent;
      if (count !== size) throw new Error(`${count} of ${size} agents: ${output}`);
    },
  };
}

const snapped = read(['snapshot', 'create', '--out', SNAPSHOT_FILE]);
const snappedOnBase = read([
  ...['snapshot', 'create', '--out', SNAPSHOT_FILE],
  ...['--base', BASE_FILE],
]);
const written = read(['export', '--out', EXPORTED]);

function looped(file: string): Program {
  return {
    argv: () => [join(import.meta.dirname, file)],
    check: (output) => {
      if (!/^[1-9]\d* requests\n$/.test(output)) throw new Error(`nothing was asked: ${output}`);
    },
  };
}

/** The requests that Callsheet made just before, as many at once, their answers parsed. */
const floor = looped('fleet/loop.ts');
/** Its writes alone, one after the other. */
const script = looped('fleet/script.ts');

/** List pages alone are read of a fleet that the state knows to be as it was, and every agent of one that it does not. */
function plans(layout: Layout): readonly Case[] {
  return [
    {
      name: 'cold plan',
      // The time of the platform's answers hides that of Callsheet.
      goal: ({ latency }) => (latency === 0 ? 2 : 1.15),
      serve: servePlan(layout),
      callsheet: planned(['--refresh', 'full']),
      floor,
    },
    {
      name: 'fast plan',
      goal: 1.5,
      serve: servePlan(layout),
      callsheet: planned([]),
      floor,
      beside: parsed,
    },
    { name: 'one file', serve: serveEdited(layout), callsheet: planned([], 1), floor },
    {
      name: 'with a base',
      goal: 1.3,
      serve: serveBranch(layout),
      callsheet: planned(['--base', 'main'], 1),
      floor: planned([], 1),
    },
  ];
}

/** An apply changes as many of a larger fleet, and only its lists are longer. */
const APPLIED = [100, 1000, 10_000];

export const fleet: Benchmark = {
  name: 'fleet',
  about: `callsheet plan and apply against a bare loop over undici with the same requests, ${CONCURRENCY} at a time; a plan with a base against one without.`,
  sizes: [100, 1000, 10_000, 100_000],
  latencies: [0, 20],
  cases: [
    ...plans('rows'),
    {
      name: 'after apply',
      sizes: APPLIED,
      goal: 1.5,
      serve: serveApplied,
      callsheet: planned(ROUND),
      floor,
      beside: parsed,
    },
    { name: 'apply', sizes: APPLIED, goal: 1.25, serve: serveApply, callsheet: appliedFile, floor },
  ],
  tidy: removeFleets,
};

/** The same plans of the same agents, a file and a prompt each. */
export const exported: Benchmark = {
  name: 'exported',
  about:
    'callsheet plan and validate of a fleet as callsheet export writes it, a file and a prompt an agent.',
  sizes: [100, 1000, 10_000],
  cases: [
    ...plans('exported'),
    {
      name: 'validate',
      goal: 1.2,
      serve: servePlan('exported'),
      callsheet: validated,
      floor: parsed,
    },
  ],
  tidy: removeFleets,
};

/** Requests of a run whatever it changes: a token, the account, the lists, whether entries have times. */
const around = (size: number) => 10 + Math.ceil(size / 100);

/** A rollback lists to plan, before it writes and once it has written; a restore in each round, which is a session. */
const aroundRollback = (size: number) => around(3 * size);
const aroundRestore = (size: number) => 20 + around(6 * size);
/** The same of a snapshot, which has what the account offers as well: features, models, providers. */
const aroundAccount = (size: number) => around(size) + 5;

/** Counts the requests of a run: nothing here depends on the machine but the seconds. */
export const requests: Benchmark = {
  name: 'requests',
  about:
    'Requests of a command, with a bound that fails the case (DESIGN §5, Thrift): three an update, two a create, one read, which the plan makes, an adoption, two a restore, five a rollback, two a snapshot, list pages on top of an earlier one, and one an export. Beside creates a script that sends the writes alone, one after the other.',
  sizes: [100, 1000],
  cases: [
    {
      name: 'update',
      requests: (size) => 3 * ofChanged(size) + around(size),
      serve: serveApply,
      callsheet: appliedFile,
      floor,
    },
    {
      name: 'create',
      requests: (size) => 2 * size + around(size),
      serve: serveCreate(),
      callsheet: created,
      floor: script,
    },
    {
      name: 'adoption',
      requests: (size) => size + around(size),
      serve: serveAdopt,
      callsheet: adopted,
      floor,
    },
    {
      name: 'restore',
      requests: (size) => 2 * size + aroundRestore(size),
      serve: serveRestore,
      callsheet: restored,
      floor: script,
    },
    {
      name: 'rollback',
      requests: (size) => 5 * ofChanged(size) + aroundRollback(size),
      serve: serveApplied,
      callsheet: rolledBack,
      floor,
    },
    {
      name: 'snapshot',
      requests: (size) => 2 * size + aroundAccount(size),
      serve: serveBackup,
      callsheet: snapped,
      floor,
    },
    {
      name: 'snapshot on a base',
      requests: aroundAccount,
      serve: serveBackup,
      callsheet: snappedOnBase,
      floor,
    },
    {
      name: 'export',
      requests: (size) => size + around(size),
      serve: serveBackup,
      callsheet: written,
      floor,
    },
  ],
  tidy: removeFleets,
};

/** If the platform limits requests, their number decides how long a run takes. */
export const limited: Benchmark = {
  name: 'limited',
  about: `callsheet apply (plan and apply) with 50 and with 20 requests a second, against a script that sends the writes alone, one after the other: ${FEW} creates, and updates of ${FEW} of a larger fleet. Plan and apply of one prompt, ${FAR_MS} ms away, are held to round trips in a row, beside a loop with the same requests.`,
  sizes: [FEW, 200, 1000],
  cases: [
    {
      name: `plan of a prompt, ${FAR_MS} ms, 20/s`,
      sizes: [200],
      roundTrips: 4,
      serve: servePrompt(20),
      callsheet: planned([], 1),
      floor,
    },
    {
      name: `apply of a prompt, ${FAR_MS} ms, 20/s`,
      sizes: [200],
      // The plan's four, the look before the write, the write, its proof and the history.
      roundTrips: 8,
      serve: servePrompt(20),
      callsheet: applied(['--auto-approve'], 'update', () => 1),
      floor,
    },
    ...[50, 20].flatMap((perSecond): Case[] => [
      {
        name: `create, ${perSecond}/s`,
        sizes: [FEW],
        serve: serveCreate(perSecond),
        callsheet: created,
        floor: script,
      },
      {
        name: `update, ${perSecond}/s`,
        sizes: [1000],
        serve: serveUpdate(perSecond),
        callsheet: updated,
        floor: script,
      },
    ]),
  ],
  tidy: removeFleets,
};

/** A secret that is not set costs a plan the same, however many there are. */
export const secrets: Benchmark = {
  name: 'secrets',
  about:
    'callsheet plan of a fleet whose agents have a secret each, none of them set, against a plan of the same agents without secrets: the ratio is to be the same at every size.',
  sizes: [1000, 5000, 20_000],
  cases: [
    {
      name: 'unset',
      goal: 1.5,
      serve: serveSecrets,
      callsheet: planned([]),
      floor: planned(['--dir', PLAIN]),
    },
  ],
  tidy: removeFleets,
};

/** A plan that people read: as JSON it is as long as its texts. */
function readable(pattern: RegExp): Program {
  return {
    argv: () => [MAIN, 'plan', ...AT_ONCE],
    check: (output, size) => {
      const [, count = ''] = pattern.exec(output) ?? [];
      if (Number(count.replaceAll(',', '')) !== size)
        throw new Error(`not ${size} agents are planned: ${output.slice(-200)}`);
    },
  };
}

/** Long texts are held once, and those of another side as what differs in them. */
const mostMemory = (size: number) => 2 * textSize(size) + 200;

/** Holds the memory of a run against the size of its texts. */
export const texts: Benchmark = {
  name: 'texts',
  about:
    'Peak memory of callsheet plan and apply of agents with prompts of 100 KB each that one template makes, with a bound that fails the case: twice the prompts and 200 MB.',
  sizes: [3200],
  cases: [
    {
      name: 'plan of creates',
      memory: mostMemory,
      serve: serveCreate(undefined, 'texts'),
      callsheet: readable(/Plan: ([\d,]+) new agents/),
      floor,
    },
    {
      name: 'creates',
      memory: mostMemory,
      serve: serveCreate(undefined, 'texts'),
      callsheet: created,
      floor: script,
    },
    {
      name: 'plan of updates',
      memory: mostMemory,
      serve: serveLong,
      callsheet: readable(/Plan: ([\d,]+) agents change/),
      floor,
    },
    {
      name: 'updates',
      memory: mostMemory,
      serve: serveLong,
      callsheet: applied(['--auto-approve'], 'update', ofAll),
      floor,
    },
  ],
  tidy: removeFleets,
};

/** A seal is what the key of a run adds to it, and nothing else differs. */
export const sealed: Benchmark = {
  name: 'state',
  about:
    'callsheet apply (plan and apply) that creates a fleet with CALLSHEET_FINGERPRINT_KEY, which seals the state and its journal, against the same without it.',
  sizes: [1000],
  latencies: [0, 20],
  cases: [
    {
      name: 'sealed create',
      goal: 1.03,
      serve: serveSealed,
      callsheet: created,
      floor: created,
    },
  ],
  tidy: removeFleets,
};
