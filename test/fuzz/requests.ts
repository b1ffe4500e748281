import fc, { type Arbitrary } from 'fast-check';
import { isSchema, type Schema } from '../../scripts/generate/schema.ts';
import type { Json } from '../../src/core/value.ts';
import { RESTS } from '../../src/simulator/index.ts';
import { oneOf } from './choice.ts';
import type { Contract, ContractOperation } from './document.ts';
import { live } from './hints.ts';
import { sometimesSpoilt } from './spoil.ts';
import type { Body, Call, Caller, Delivery, Part, Place, Pool, Step, Stray } from './step.ts';
import { ANYTHING, valuesOf } from './values.ts';

/** A run of requests to one simulator: mostly 20 to 50 of them, so that they build on each other. */
export function stepsOf(contract: Contract): Arbitrary<Step[]> {
  const calls = contract.operations.map((operation) => callsOf(contract, operation));
  // A step is left out or kept: one of another sort would not be shorter.
  const step = fc.oneof(
    { weight: 34, arbitrary: fc.oneof(...calls) },
    { weight: 2, arbitrary: DELIVERIES },
    { weight: 1, arbitrary: strays(contract) },
  );
  return fc.array(step, { maxLength: 50, size: 'max' });
}

const CALLERS: Arbitrary<Caller> = oneOf(
  { weight: 14, arbitrary: fc.constant('account') },
  { weight: 2, arbitrary: fc.constantFrom('reseller', 'organization') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('nobody', 'expired', 'rotated', 'unknown', 'malformed', 'basic'),
  },
);

function callsOf(contract: Contract, operation: ContractOperation): Arbitrary<Call> {
  const inside = (place: string) => operation.parameters.filter((one) => one.in === place);
  return fc.record({
    do: fc.constant('call'),
    operation: fc.constant(operation.id),
    as: CALLERS,
    path: fc.record(
      Object.fromEntries(
        inside('path').map(({ name }) => [String(name), placesOf(operation, String(name))]),
      ),
    ),
    query: queriesOf(contract, inside('query')),
    body: bodiesOf(contract, operation),
    failing: oneOf(
      { weight: 24, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom(...failuresOf(operation)) },
    ),
  });
}

/** Statuses that are no fault of the caller, as far as the document gives them to an operation. */
function failuresOf({ answers }: ContractOperation): readonly number[] {
  return [...answers.keys()].map(Number).filter((status) => status === 429 || status >= 500);
}

/** What each parameter of a path names. */
const PATH_POOLS: { readonly [name: string]: Pool } = {
  agentId: 'agent',
  versionId: 'version',
  knowledgeBaseId: 'base',
  sourceId: 'source',
};

const ODD_PLACES = [
  '00000000-0000-4000-a000-000000000000',
  '0',
  '-1',
  '1',
  '1.5',
  '99999999999999999999',
  'null',
  '__proto__',
  'constructor',
  '..',
  '%2e%2e%2f',
  '%00',
  '%',
  '%zz',
  'a b',
  'ü',
  "';--",
  'x'.repeat(600),
];

function placesOf({ id }: ContractOperation, name: string): Arbitrary<Place> {
  const own = RESTS.find(({ operations }) => Object.values<string>(operations).includes(id));
  const pool = own === undefined ? PATH_POOLS[name] : (`records of ${own.kind.name}` as const);
  if (pool === undefined) throw new Error(`no ids are known for ${name} of ${id}`);
  return oneOf<Place>(
    { weight: 12, arbitrary: live(pool) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_PLACES).map((text) => ({ text })) },
  );
}

/** Values that fit hardly any parameter. */
const ODD_VALUES = [
  '',
  '0',
  '-1',
  '1e3',
  '+2',
  '99999999999999999999',
  'yes',
  '2026-13-45',
  '31.01.2026',
  'not a uuid',
];

/** Parameters that no operation has. */
const ODD_QUERIES: readonly (readonly [string, Json])[] = [
  ['__proto__', 'x'],
  ['constructor', 'x'],
  ['page[]', '1'],
  ['page[__proto__]', '1'],
  ['', ''],
  ['x'.repeat(2000), 'y'],
];

function queriesOf(contract: Contract, parameters: readonly Schema[]): Arbitrary<Call['query']> {
  const each = parameters.map((parameter) => {
    const name = String(parameter.name);
    const schema = isSchema(parameter.schema) ? parameter.schema : {};
    const value = valuesOf(contract.document, schema, name).map((one): Call['query'] => [
      [name, one],
    ]);
    const none = fc.constant<Call['query']>([]);
    const odd = fc.constantFrom(...ODD_VALUES).map((one): Call['query'] => [[name, one]]);
    return parameter.required === true
      ? oneOf(
          { weight: 15, arbitrary: value },
          { weight: 1, arbitrary: none },
          { weight: 1, arbitrary: odd },
        )
      : oneOf(
          { weight: 8, arbitrary: none },
          { weight: 4, arbitrary: value },
          { weight: 1, arbitrary: odd },
        );
  });
  const odd = fc.array(fc.constantFrom(...ODD_QUERIES), { maxLength: 2 });
  return fc
    .tuple(
      fc.tuple(...each),
      oneOf<Call['query']>(
        { weight: 9, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: odd },
      ),
    )
    .map(([given, more]) => [...given.flat(), ...more]);
}

function bodiesOf(contract: Contract, { body }: ContractOperation): Arbitrary<Body> {
  if (body === undefined)
    return oneOf(
      { weight: 9, arbitrary: fc.constant<Body>({ kind: 'none' }) },
      { weight: 1, arbitrary: oddBodies },
    );
  const valid = valuesOf(contract.document, body.schema);
  if (body.media !== 'application/json') return formsOf(valid);
  const json = fc.record({
    kind: fc.constant('json'),
    value: oneOf(
      { weight: 19, arbitrary: sometimesSpoilt(valid, 3) },
      { weight: 1, arbitrary: ANYTHING },
    ),
    type: oneOf(
      { weight: 19, arbitrary: fc.constant('application/json') },
      { weight: 1, arbitrary: ODD_TYPES },
    ),
  });
  return oneOf({ weight: 20, arbitrary: json }, { weight: 1, arbitrary: oddBodies });
}

const ODD_TYPES = fc.constantFrom(
  null,
  'text/plain',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'application/',
  ';;;',
);

const oddBodies: Arbitrary<Body> = fc.record({
  kind: fc.constant('text'),
  text: fc.constantFrom(
    '',
    ' ',
    '{',
    '{"name":}',
    'null',
    '[]',
    '"text"',
    '1',
    'NaN',
    '\uFEFF{}',
    '{"__proto__":{"polluted":true},"name":"x"}',
    '{"constructor":{"prototype":{"polluted":true}}}',
    '['.repeat(20_000),
    `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
    `{"name":"${'n'.repeat(300_000)}"}`,
    'name=x&name=y',
  ),
  type: oneOf(
    { weight: 3, arbitrary: fc.constant('application/json') },
    { weight: 1, arbitrary: ODD_TYPES },
  ),
});

const FILES: Arbitrary<NonNullable<Part['file']>> = fc.record({
  name: oneOf(
    { weight: 6, arbitrary: fc.constant('clip.wav') },
    { weight: 1, arbitrary: fc.constantFrom('clip.exe', '', '../x.mp3', 'ü"\\.ogg') },
  ),
  type: oneOf(
    { weight: 6, arbitrary: fc.constantFrom('audio/wav', 'audio/mpeg') },
    { weight: 1, arbitrary: fc.constantFrom('application/octet-stream', 'text/plain', '') },
  ),
  size: oneOf(
    { weight: 20, arbitrary: fc.constantFrom(64, 1000) },
    { weight: 2, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(4_194_304, 4_194_305) },
  ),
});

/** Forms from a record of their fields; the clip becomes a file. */
function formsOf(values: Arbitrary<Json>): Arbitrary<Body> {
  return fc
    .record({
      fields: sometimesSpoilt(values, 5),
      file: FILES,
      twice: fc.constantFrom(false, false, false, false, false, false, false, true),
      bare: fc.constantFrom(false, false, false, false, false, false, false, true),
      damage: oneOf(
        { weight: 12, arbitrary: fc.constant('none' as const) },
        {
          weight: 1,
          arbitrary: fc.constantFrom('cut', 'no-boundary', 'other-boundary', 'line-feeds'),
        },
      ),
    })
    .map(({ fields, file, twice, bare, damage }): Body => {
      const parts = Object.entries(Object(fields) as { [name: string]: Json }).map(
        ([name, value]): Part =>
          name === 'clip' && !bare ? { name, value, file } : { name, value },
      );
      return { kind: 'form', parts: twice ? [...parts, ...parts] : parts, damage };
    });
}

const DELIVERIES: Arbitrary<Delivery> = fc.record({
  do: fc.constant('delivery'),
  nth: fc.nat(5),
  twist: oneOf(
    { weight: 8, arbitrary: fc.constant('none') },
    {
      weight: 7,
      arbitrary: fc.constantFrom(
        'token',
        'type',
        'size',
        'signature',
        'expired',
        'method',
        'no-query',
      ),
    },
  ),
});

const STRAY_PATHS = [
  '/',
  '//',
  '/v1',
  '/v1/',
  '/v2/agents',
  '/v1/agents/',
  '/V1/AGENTS',
  '/v1/agents/%',
  '/favicon.ico',
  '/uploads/',
  '/uploads/x',
  '/uploads/../v1/me',
  '/%2e%2e/',
  '/?x',
  `/${'x'.repeat(5000)}`,
];

/** Addresses of no operation, and methods that an address does not have. */
function strays({ operations }: Contract): Arbitrary<Stray> {
  const known = operations.map(({ path }) => path.replaceAll(/\{\w+\}/g, '1'));
  return fc.record({
    do: fc.constant('stray'),
    as: fc.constantFrom('account', 'nobody'),
    method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
    path: fc.constantFrom(...STRAY_PATHS, ...known),
  });
}
