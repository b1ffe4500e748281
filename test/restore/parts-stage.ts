import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transport } from '../../src/platform/transport.ts';
import type { RestoreFlags } from '../../src/restore/restore.ts';
import { generateAccount } from '../../src/simulator/account.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { FOR_KEY, take, withKey } from '../snapshot/taking.ts';
import {
  fleetOf,
  knowledgeBasesOf,
  mediaOf,
  ownState,
  RESTORED,
  restoreOn,
  secretsFile,
  unlockAll,
} from './restoring.ts';

const ACCOUNT = '5c1f0d7e-2c57-4a4e-8d0f-6f2c3f0c9b11';
const SIZE = { resellers: 1, organizations: 1, agents: 6 };
const FLEET = {
  account_id: ACCOUNT,
  ...generateAccount(SIZE, ACCOUNT, Date.parse('2026-11-01T00:00:00Z')),
};
/** Resources of one part. */
export const FEW = 5;

type Options = NonNullable<Parameters<typeof restoreOn>[3]>;

/** A fleet of several parts, its snapshot, and the command that restores it. */
export type Parted = {
  readonly stage: Stage;
  /** What was there when the snapshot was taken. */
  readonly before: ReturnType<typeof fleetOf>;
  readonly now: () => ReturnType<typeof fleetOf>;
  readonly restore: (
    flags?: Partial<RestoreFlags>,
    options?: Options,
  ) => ReturnType<typeof restoreOn>;
  /** A stack that says nothing but these guards; resolves to its folder. */
  readonly guard: (lines: string) => Promise<string>;
};

/** A test of a restoration in several parts. */
export function parted(name: string, body: (fleet: Parted) => Promise<void>): void {
  staged(
    name,
    async (stage) => {
      const { sim, folder } = stage;
      unlockAll(sim);
      const taken = { dir: '.', knowledgeBase: knowledgeBasesOf(sim), ...FOR_KEY };
      const { file } = await take(stage, 'then.snapshot', taken);
      const flags = {
        dir: '.',
        media: await mediaOf(sim, join(folder, 'media')),
        secrets: await secretsFile(folder),
        state: ownState(stage),
        together: FEW,
        concurrency: 1,
        ...(await withKey(stage)),
      };
      await body({
        stage,
        before: fleetOf(sim),
        now() {
          // A document that was announced and whose bytes never came stays: the platform deletes none.
          for (const [id, { record }] of [...sim.store.sources])
            if (record.status !== 'active') sim.store.sources.delete(id);
          return fleetOf(sim);
        },
        restore: (more = {}, { env = {}, ...options } = {}) =>
          restoreOn(
            stage,
            file,
            { ...flags, ...more },
            {
              ...options,
              env: { ...RESTORED, ...env },
            },
          ),
        async guard(lines) {
          const dir = join(folder, 'guarded');
          await mkdir(dir);
          await writeFile(join(dir, 'callsheet.yaml'), `callsheet: 1\nguards: { ${lines} }\n`);
          return dir;
        },
      });
    },
    { seed: FLEET },
  );
}

/** The outside of a command that does something before the nth request of an operation leaves. */
export function before(
  operation: string,
  nth: number,
  act: () => void,
): NonNullable<Options['outside']> {
  let seen = 0;
  return {
    wire: (transport: Transport) => ({
      ...transport,
      send: async (request) => {
        if (request.about?.operation === operation) {
          seen += 1;
          if (seen === nth) act();
        }
        return transport.send(request);
      },
    }),
  };
}
