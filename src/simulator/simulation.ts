import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { CallsheetError, explainSystemError } from '../core/errors.ts';
import { operations } from '../platform/operations.generated.ts';
import { type Dialect, readDialect, readDialectFlags } from './dialect.ts';
import type { Simulation as Written } from './documents.generated.ts';
import type { Fault } from './faults.ts';
import type { RateLimit } from './rate-limit.ts';
import { checkSeed, readSeed, type SeedDocument } from './seed.ts';
import schema from './simulation.schema.json' with { type: 'json' };
import { ajv, problemsIn, readDocument, wrongDocument } from './validation.ts';

/** How a simulated platform behaves, as a file says it. */
type Simulation = Omit<Written.Document, 'seed' | 'dialect' | 'faults'> & {
  /** The seed, or the name of its file relative to this one. */
  readonly seed?: SeedDocument | string;
  readonly dialect?: Partial<Dialect>;
  readonly faults?: readonly Fault[];
};

ajv.addSchema(schema);
const validateSimulation = ajv.compile<Simulation>({ $ref: schema.$id });
const validateFault = ajv.compile<Fault>({ $ref: `${schema.$id}#/$defs/fault` });
const validateRateLimit = ajv.compile<RateLimit>({ $ref: `${schema.$id}#/$defs/rateLimit` });

/**
 * Reads a simulation from YAML or JSON. Throws a `CallsheetError` (`config`) whose message lists
 * everything that is wrong with it.
 */
export function readSimulation(text: string): Simulation {
  const value = readDocument(text, 'simulation');
  const problems = problemsIn(validateSimulation, value);
  // A document that is no object has no members to check.
  const { dialect: given, seed, faults } = typeof value === 'object' ? Object(value) : {};
  const dialect = readDialect(given ?? {});
  const all = [
    ...problems,
    ...dialect.problems.map((problem) => `dialect: ${problem}`),
    ...(Array.isArray(faults)
      ? faults.flatMap((one, index) => unknownOperation(one, `faults.${index}`))
      : []),
    ...(typeof seed === 'object' && seed !== null
      ? checkSeed(seed).map((problem) => `seed: ${problem}`)
      : []),
  ];
  if (all.length > 0) throw wrongDocument('simulation', [...new Set(all)]);
  // Validated just above.
  const simulation = value as Simulation;
  return given === undefined ? simulation : { ...simulation, dialect: dialect.dialect };
}

/** A fault that came from outside, or what is wrong with it. */
export function checkFault(value: unknown): readonly string[] {
  return [...problemsIn(validateFault, value), ...unknownOperation(value, 'fault')];
}

/** Returns the problems of a rate limit that came from outside. */
export function checkRateLimit(value: unknown): readonly string[] {
  return problemsIn(validateRateLimit, value);
}

const BESIDE_OPERATIONS = ['upload', 'ingestion', '*'];

function unknownOperation(fault: unknown, place: string): readonly string[] {
  const operation: unknown = Object(fault).operation;
  if (typeof operation !== 'string') return [];
  return Object.hasOwn(operations, operation) || BESIDE_OPERATIONS.includes(operation)
    ? []
    : [`${place}: there is no operation ${operation}`];
}

/** Flags that say how a simulated platform behaves. */
export type SimulationFlags = {
  readonly seed?: string;
  readonly config?: string;
  readonly dialect?: readonly string[];
  readonly fault?: readonly string[];
  /** Requests a second, or a whole limit as YAML. */
  readonly rateLimit?: number | string;
  /** Calls of an agent a day; `true` where there is no number. */
  readonly callers?: number | true;
};

/** Flags and files as one: options to start with, and faults to set before the first request. */
type SimulationRequest = {
  readonly options: {
    readonly [Option in Exclude<keyof Simulation, 'seed' | 'faults'>]: Simulation[Option];
  } & { readonly seed: SeedDocument | undefined };
  readonly faults: readonly Fault[];
};

/**
 * Reads the files that the flags name. Flags win over the file. Throws a `CallsheetError` that names
 * everything that is wrong with what it looks at.
 */
export async function readSimulationFlags(flags: SimulationFlags): Promise<SimulationRequest> {
  const file =
    flags.config === undefined ? {} : readSimulation(await readText('simulation', flags.config));
  return {
    options: {
      seed: await readNamedSeed(flags, file),
      callers: mergeCallers(flags, file),
      rateLimit: readRateLimit(flags, file),
      dialect: { ...file.dialect, ...parseDialect(flags) },
      latencyMs: file.latencyMs,
      chaosSeed: file.chaosSeed,
    },
    faults: [...(file.faults ?? []), ...readFaults(flags)],
  };
}

async function readNamedSeed(
  flags: SimulationFlags,
  { seed }: Simulation,
): Promise<SeedDocument | undefined> {
  if (flags.seed !== undefined) return readSeed(await readText('seed', flags.seed));
  if (typeof seed !== 'string') return seed;
  return readSeed(await readText('seed', resolve(dirname(flags.config ?? ''), seed)));
}

/** A number replaces only that of the file. */
function mergeCallers({ callers: flag }: SimulationFlags, file: Simulation): Simulation['callers'] {
  if (flag === undefined) return file.callers;
  return { ...file.callers, ...(flag === true ? {} : { perDay: flag }) };
}

/** A number replaces only the rate of the file's limit. */
function readRateLimit(
  { rateLimit: flag }: SimulationFlags,
  file: Simulation,
): Simulation['rateLimit'] {
  if (flag === undefined) return file.rateLimit;
  if (typeof flag === 'number') return { ...file.rateLimit, perSecond: flag };
  const limit = parseFlag('--rate-limit', flag);
  const problems = checkRateLimit(limit);
  if (problems.length > 0) throw refused('--rate-limit', problems);
  // Checked just above.
  return limit as Simulation['rateLimit'];
}

function parseDialect({ dialect: pairs = [] }: SimulationFlags): Partial<Dialect> {
  const { dialect, problems } = readDialectFlags(pairs);
  if (problems.length > 0) throw refused('--dialect', problems);
  return dialect;
}

function readFaults({ fault: texts = [] }: SimulationFlags): readonly Fault[] {
  const faults = texts.map((text) => parseFlag('--fault', text));
  const problems = faults.flatMap((fault) => checkFault(fault));
  if (problems.length > 0) throw refused('--fault', problems);
  // Checked just above.
  return faults as readonly Fault[];
}

function parseFlag(flag: string, text: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new CallsheetError('usage', `${flag} ${text} is not YAML`, { cause });
  }
}

function refused(flag: string, problems: readonly string[]): CallsheetError {
  return new CallsheetError('usage', `${flag}: ${problems.join('; ')}`, {
    hint: 'callsheet help simulator lists what it takes.',
  });
}

async function readText(what: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw explainSystemError(error, `the ${what} file ${file} cannot be read`);
  }
}
