import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withNamedFile, writeNamedFile } from '../../console/named-file.ts';
import { DOCUMENT_LEVELS, Excess, parseWithin } from '../../core/bounds.ts';
import { computeDigest } from '../../core/digest.ts';
import { CallsheetError, reasonIn } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import { isObject, type Json } from '../../core/value.ts';
import { signed } from '../../plan/document.ts';
import type { FleetDocument, FleetStack } from '../../render/fleet.ts';
import { planFilePieces } from '../../render/json.ts';
import type { Shard } from './request.ts';
import { fleetJson } from './run-stack.ts';

/**
 * The plans of many stacks in a folder: a plan file for each, and `fleet.json`, which is what `plan --recursive
 * --format json` prints and says which file is whose. It is written last: without it there is no set, so an
 * interrupted set is never applied.
 */
const INDEX = 'fleet.json';

/** The plan of one stack, as a set has it. */
export type PlannedStack = Pick<FleetStack, 'path' | 'plan_digest' | 'plan_file' | 'error'>;

export type PlanSet = {
  readonly digest: string;
  readonly shard: Shard | null;
  readonly stacks: readonly PlannedStack[];
};

/** Name of a stack's plan file: to be recognised, and never that of another stack. */
export function getPlanFile(path: string): string {
  const slug = path
    .replace(/[^\w.-]+/g, '-')
    .slice(-60)
    .replace(/^[-.]+/, '');
  const mark = hash('sha256', path).slice(0, 8);
  return `${slug === '' ? 'root' : slug}-${mark}.json`;
}

/** `sha256:…` over which stack is to be applied with which plan; one without a plan counts as such. */
export function digestOfPlans(stacks: readonly Pick<FleetStack, 'path' | 'plan_digest'>[]): string {
  return computeDigest(stacks.map(({ path, plan_digest: digest }) => [path, digest]));
}

/** Files of a set, and what a killed process left of one that it was writing. */
const OWN_FILE = /^(?:fleet|.*-[0-9a-f]{8})\.json(?:\.new)?$/;

/** Makes room for a set: what an earlier one left is removed, what is somebody else's is left alone. */
export async function clearPlanSet(folder: string): Promise<void> {
  await withNamedFile('--out', folder, () => mkdir(folder, { recursive: true }));
  const names = await withNamedFile('--out', folder, () => readdir(folder));
  const own = names.filter((name) => OWN_FILE.test(name));
  // Without an index a folder is known by holding nothing else, as one does whose plan was interrupted.
  if (!names.includes(INDEX) && own.length < names.length) {
    throw new CallsheetError('usage', `--out ${folder} already holds other files`, {
      hint: 'With --recursive, set --out to an empty or new folder.',
    });
  }
  await withNamedFile('--out', folder, async () => {
    // The index first: without it, files left by an interrupt are never applied.
    await rm(join(folder, INDEX), { force: true });
    await Promise.all(own.map((name) => rm(join(folder, name), { force: true })));
  });
}

/** Writes the plan of one stack, and gives the name of its file. */
export async function writePlan(folder: string, path: string, plan: PlanDocument): Promise<string> {
  const name = getPlanFile(path);
  await writeNamedFile('--out', join(folder, name), planFilePieces(signed(plan)));
  return name;
}

export async function closePlanSet(folder: string, document: FleetDocument): Promise<void> {
  await writeNamedFile('--out', join(folder, INDEX), fleetJson(document));
}

/** A tree has as many stacks as it has. */
const BOUNDS = { levels: DOCUMENT_LEVELS, values: Number.POSITIVE_INFINITY };

/** Reads a set. Throws `CallsheetError` where it is none, or was changed since. */
export async function readPlanSet(folder: string): Promise<PlanSet> {
  const file = join(folder, INDEX);
  let parsed: Json;
  try {
    parsed = parseWithin(await readFile(file, 'utf8'), BOUNDS) as Json;
  } catch (cause) {
    const why =
      cause instanceof Excess
        ? `has ${cause.what}`
        : cause instanceof SyntaxError
          ? 'is not JSON'
          : `cannot be read: ${reasonIn(cause)}`;
    throw new CallsheetError('usage', `${folder} holds no plans of many stacks: ${INDEX} ${why}`, {
      hint: 'Make them with: `callsheet plan --recursive --out FOLDER`',
      cause,
    });
  }
  const set = planSetIn(parsed);
  if (set === undefined) {
    throw new CallsheetError(
      'usage',
      `${file} is not what \`callsheet plan --recursive --out FOLDER\` writes`,
      {
        hint: 'Give the folder that it wrote, or apply a single plan without --recursive.',
      },
    );
  }
  if (set.digest === digestOfPlans(set.stacks)) return set;
  throw new CallsheetError(
    'stale',
    `${file} was changed after it was made: its digest does not match`,
    {
      hint: 'Plan again, review, and apply the new plans.',
    },
  );
}

/** A validated border: the digest vouches for paths and plans, and each plan file for itself. */
function planSetIn(value: Json): PlanSet | undefined {
  if (!isObject(value)) return undefined;
  const { format, version, command, digest, shard, stacks } = value;
  const isKnown = format === 'callsheet-fleet' && version === 1 && command === 'plan';
  if (!isKnown || typeof digest !== 'string' || !Array.isArray(stacks)) return undefined;
  const planned = stacks.map(plannedIn);
  const whole = planned.filter((stack) => stack !== undefined);
  if (whole.length < planned.length) return undefined;
  return { digest, shard: shardIn(shard), stacks: whole };
}

function shardIn(value: Json | undefined): Shard | null {
  if (!isObject(value)) return null;
  const { index, count } = value;
  return typeof index === 'number' && typeof count === 'number' ? { index, count } : null;
}

function plannedIn(value: Json): PlannedStack | undefined {
  if (!isObject(value)) return undefined;
  const { path, plan_digest: digest, plan_file: file } = value;
  const isInside =
    typeof path === 'string' && !path.startsWith('/') && !path.split('/').includes('..');
  const isPlain = file === null || (typeof file === 'string' && /^[\w.-]+$/.test(file));
  if (!isInside || !isPlain || (digest !== null && typeof digest !== 'string')) return undefined;
  return { path, plan_digest: digest ?? null, plan_file: file ?? null, error: null };
}
