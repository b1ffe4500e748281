import { afterAll, describe, expect, test } from 'vitest';
import type { SimulatorOptions } from '../../src/simulator/index.ts';
import { openWorld, type Reply, type World } from './world.ts';

/*
 * The conformance suite: one row per rule of the platform's specification, each run over a socket. The
 * words of the specification are its only source; where they are silent there is no row, except under
 * `Assumptions`.
 */

type Run = (world: World) => Promise<void>;

type Rule = {
  readonly rule: string;
  readonly run: Run;
  /** A platform of the row's own; otherwise the one that all reading rows share. */
  readonly own?: SimulatorOptions;
};

/** A rule, and the part of the specification that states it: its headings from the top, then its number. */
export type Row = Rule & { readonly section: string };

/** The rows of one part of the specification. */
export function section(
  name: string,
  ...rules: readonly (Rule | readonly Rule[])[]
): readonly Row[] {
  return rules.flat().map((rule) => ({ section: name, ...rule }));
}

/** A rule that is shown without changing anything on the platform. The suite fails it if it does. */
export function reads(rule: string, run: Run): Rule {
  return { rule, run };
}

/** A rule that is shown on a platform of its own, because it changes something there or needs another one. */
export function writes(rule: string, run: Run, own: SimulatorOptions = {}): Rule {
  return { rule, run, own };
}

/** Asks once, and expects the status and the whole body. */
export function answers(
  ask: (world: World) => Promise<Reply>,
  status: number,
  body: unknown = expect.anything(),
): Run {
  return async (world) => expectReply(await ask(world), status, body);
}

/** Expects a status and, where it is given, the whole body. */
export function expectReply(reply: Reply, status: number, body: unknown = expect.anything()): void {
  expect({ status: reply.status, body: reply.body }).toEqual({ status, body });
}

/** The body of a coded error. */
export function coded(error: string, description: RegExp = /\S/): object {
  return { error, error_description: expect.stringMatching(description) };
}

/** The body of a flat error. */
export function flat(error: string): object {
  return { error };
}

/** Registers one test per row. A row that asserts nothing fails, and so does a reading row that writes. */
export function runSuite(rows: readonly Row[]): void {
  let shared: Promise<Shared> | undefined;
  afterAll(async () => (await shared)?.world.close());

  const bySection = Map.groupBy(rows, (row) => row.section);
  for (const [name, own] of bySection)
    describe(name, () => {
      test.each(own)('$rule', async (row) => {
        expect.hasAssertions();
        if (row.own !== undefined) {
          const world = await openWorld(row.own);
          try {
            await row.run(world);
          } finally {
            await world.close();
          }
          return;
        }
        shared ??= openShared();
        const { world, before } = await shared;
        await row.run(world);
        if (JSON.stringify(world.sim.dump()) !== before) {
          shared = undefined;
          await world.close();
          throw new Error('this row changed the platform that the reading rows share');
        }
      });
    });
}

type Shared = { readonly world: World; readonly before: string };

async function openShared(): Promise<Shared> {
  const world = await openWorld();
  return { world, before: JSON.stringify(world.sim.dump()) };
}
