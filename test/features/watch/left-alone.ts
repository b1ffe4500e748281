import { execFileSync } from 'node:child_process';
import { expect } from 'vitest';
import type { WatchFlags } from '../../../src/features/watch/watch.ts';
import type { Stage } from '../../apply/stage.ts';
import { agent, ofEvent, openApplied, startWatching, type Watching } from './watching.ts';

/** Drift that `watch --heal` leaves as it is. */
export type LeftAlone = {
  readonly what: string;
  /** Whether it is tried in `npm test`, too. */
  readonly isQuick?: boolean;
  /** Agents that are marked; the desk unless given. */
  readonly heal?: readonly string[];
  readonly flags?: Partial<WatchFlags>;
  readonly happens: (stage: Stage, watching: Watching) => unknown;
  /** What is said of it; nothing where it is not asked for. */
  readonly says?: RegExp;
};

const FREEZE = 'guards:\n  freeze: [{ zone: UTC, dates: [2020-01-01..2099-12-31] }]\n';
const THRESHOLD = 'guards: { max_change_percent: 5, min_resources: 1 }\n';
const RULE = `rules:
  never: { over: change, on: agent, require: "false", message: nothing is written today }
`;

/** Somebody changes the desk's greeting in the dashboard. */
export function drift(stage: Stage, greeting = 'Edited.'): void {
  stage.sim.edit(agent(stage, 'Front desk'), { greeting_message: greeting }, 'user:maria');
}

const append = (stage: Stage, text: string) =>
  stage.edit('callsheet.yaml', 'callsheet: 1\n', `callsheet: 1\n${text}`);

export const LEFT_ALONE: readonly LeftAlone[] = [
  { what: 'drift that is not marked', heal: [], happens: (stage) => drift(stage) },
  { what: 'drift without --heal', flags: { heal: false }, happens: (stage) => drift(stage) },
  {
    what: 'a change of the configuration, without drift',
    happens: (stage) => stage.edit('agents.yaml', 'how can I help?', 'good day!'),
  },
  {
    what: 'drift beside a change of the configuration',
    happens: async (stage) => {
      drift(stage);
      await stage.edit('agents.yaml', 'speed: 1.05', 'speed: 1.1');
    },
    says: /changes that are not applied yet/,
  },
  {
    what: 'drift in a checkout without the commit that was applied last',
    isQuick: true,
    async happens(stage) {
      const who = ['-c', 'user.name=Mina', '-c', 'user.email=mina@harbor.test'];
      const git = (...args: readonly string[]) =>
        execFileSync('git', ['-C', stage.folder, ...who, ...args], { stdio: 'pipe' });
      const commit = (message: string) => {
        git('add', '.');
        git('commit', '--quiet', '--message', message);
      };
      git('init', '--quiet');
      await stage.write('.gitignore', '.callsheet/\n');
      commit('One.');
      await stage.edit('agents.yaml', 'speed: 1.05', 'speed: 1.1');
      commit('Two.');
      await stage.apply();
      // A branch that asks for the same, so that nothing but its commit tells.
      git('checkout', '--quiet', 'HEAD~');
      await stage.edit('agents.yaml', 'speed: 1.05', 'speed: 1.10');
      commit('Three.');
      drift(stage);
    },
    says: /which this checkout does not have/,
  },
  {
    what: 'a conflict',
    isQuick: true,
    happens: async (stage) => {
      drift(stage);
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    },
    says: /the configuration changed too/,
  },
  {
    what: 'drift beside a field that the configuration let go of',
    happens: async (stage) => {
      drift(stage);
      await stage.edit('agents.yaml', '    model: alpha-4.1\n', '');
    },
    says: /not applied yet/,
  },
  {
    what: 'drift in a freeze window',
    isQuick: true,
    happens: async (stage) => {
      drift(stage);
      await append(stage, FREEZE);
    },
    says: /guards\.freeze is in force/,
  },
  {
    what: 'more drift than a threshold allows',
    isQuick: true,
    happens: async (stage) => {
      drift(stage);
      await append(stage, THRESHOLD);
    },
    says: /guards\.max_change_percent: 5 allows 0\./,
  },
  {
    what: 'drift that a rule of the team refuses to write',
    happens: async (stage) => {
      drift(stage);
      await append(stage, RULE);
    },
    says: /nothing is written today/,
  },
  {
    what: 'drift that the platform would refuse to be undone',
    happens: async (stage) => {
      await stage.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
      await stage.apply();
      stage.sim.edit(agent(stage, 'Front desk'), { model: 'alpha-4.1' });
      stage.sim.lock('account', '', 'llm.alpha-4o');
    },
    says: /llm\.alpha-4o/,
  },
];

/** Watches over two passes in which it is left as it is, and in which that is said once. */
export async function leaves({
  heal = ['desk'],
  flags = { heal: true },
  happens,
  says,
}: LeftAlone) {
  const stage = await openApplied(heal);
  const watching = await startWatching(stage, { flags });
  await happens(stage, watching);
  const before = stage.writes().length;
  const lines = await watching.pass();
  expect(ofEvent(lines, 'heal_ended', 'pass_failed')).toEqual([]);
  const said = ofEvent(lines, 'heal_left', 'heal_skipped').map(({ message }) => message);
  expect(said).toEqual(says === undefined ? [] : [expect.stringMatching(says)]);
  expect(ofEvent(await watching.pass(), 'heal_left', 'heal_skipped')).toEqual([]);
  expect(stage.writes().length).toBe(before);
}
