import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RestoreFlags } from '../../../src/features/recovery/restore.ts';
import type { Transport } from '../../../src/platform/transport.ts';
import { type Stage, staged } from '../../apply/stage.ts';
import { FOR_KEY, take, withKey } from '../../snapshot/taking.ts';
import {
  accountOf,
  fleetOf,
  knowledgeBasesOf,
  RESTORED,
  restoreOn,
  suppliesOf,
  unlockAll,
  wholeFleetOf,
} from './restoring.ts';

const FLEET = accountOf({ resellers: 1, organizations: 1, agents: 6 });
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
        ...(await suppliesOf(stage)),
        together: FEW,
        concurrency: 1,
        ...(await withKey(stage)),
      };
      await body({
        stage,
        before: fleetOf(sim),
        now: () => wholeFleetOf(sim),
        restore: (more = {}, { env = {}, ...options } = {}) =>
          restoreOn(
            stage,
            file,
            { ...flags, ...more },
            { ...options, env: { ...RESTORED, ...env } },
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
