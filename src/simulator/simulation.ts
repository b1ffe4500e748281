import { CallsheetError } from '../core/errors.ts';
import { operations } from '../platform/operations.generated.ts';
import { type Dialect, readDialect } from './dialect.ts';
import type { Fault, Seed } from './faults.ts';
import type { RateLimit } from './rate-limit.ts';
import { checkSeed, type SeedDocument } from './seed.ts';
import schema from './simulation.schema.json' with { type: 'json' };
import { ajv, problemsIn, readDocument } from './validation.ts';

/** How a simulated platform behaves, as a file says it. */
export type Simulation = {
  /** The seed, or the name of its file relative to this one. */
  readonly seed?: SeedDocument | string;
  readonly dialect?: Partial<Dialect>;
  readonly faults?: readonly Fault[];
  readonly chaosSeed?: Seed;
  readonly rateLimit?: RateLimit;
  readonly latencyMs?: number;
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
  const value = readDocument(text, wrong);
  const problems = problemsIn(validateSimulation, value);
  // What is no object at all has nothing further to look at.
  const { dialect = {}, seed, faults } = typeof value === 'object' ? Object(value) : {};
  const all = [
    ...problems,
    ...readDialect(dialect).problems.map((problem) => `dialect: ${problem}`),
    ...(Array.isArray(faults)
      ? faults.flatMap((one, index) => unknownOperation(one, `faults.${index}`))
      : []),
    ...(typeof seed === 'object' && seed !== null
      ? checkSeed(seed).map((problem) => `seed: ${problem}`)
      : []),
  ];
  if (all.length > 0) throw wrong([...new Set(all)]);
  // Validated just above.
  return value as Simulation;
}

/** A fault that came from outside, or what is wrong with it. */
export function checkFault(value: unknown): readonly string[] {
  return [...problemsIn(validateFault, value), ...unknownOperation(value, 'fault')];
}

/** What is wrong with a rate limit that came from outside. */
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

function wrong(problems: readonly string[]): CallsheetError {
  return new CallsheetError('config', `the simulation is wrong: ${problems.join('; ')}`, {
    hint: 'callsheet help simulator describes what a simulation holds.',
  });
}
