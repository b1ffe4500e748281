import fc, { type Arbitrary } from 'fast-check';
import type { Json, JsonObject } from '../../src/core/value.ts';

/**
 * Documents with values that no schema names, each a text of its own. A secret by its schema or within a text begins
 * with `canary-s`, one by its name or place with `canary-n`, everything else with `canary-p`.
 */
const SECRET = '\u00a7S';
const NAMED = '\u00a7N';
const PLAIN = '\u00a7P';

const SECRET_WORDS = [
  'password',
  'passphrase',
  'private key',
  'api key',
  'access key',
  'client secret',
  'secret',
  'credentials',
  'auth token',
  'bearer token',
  'token',
  'session',
  'session id',
  'cookie',
  'signature',
  'authorization',
  'secret access key',
  'token value',
];

const PLAIN_WORDS = [
  'location',
  'token limit',
  'secretary name',
  'password policy',
  'sort key',
  'public key',
  'author',
  'session timeout',
  'design',
  'monkey',
];

const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
const SPELLINGS: readonly ((words: readonly string[]) => string)[] = [
  (words) => words.join('_'),
  (words) => words.join('-'),
  (words) => words.join('_').toUpperCase(),
  (words) => words.map((word, index) => (index === 0 ? word : capital(word))).join(''),
  (words) => words.map(capital).join('-'),
  (words) => `x-${words.join('-')}`,
  (words) => `crm_${words.join('_')}2`,
];

const nameOf = (words: readonly string[]): Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...words), fc.constantFrom(...SPELLINGS))
    .map(([name, spell]) => spell(name.split(' ')));

const secretName = nameOf(SECRET_WORDS);
const plainName = nameOf(PLAIN_WORDS);

/** Texts with a credential in them, and what stands around it. */
const withCredential = fc.constantFrom(
  `https://${PLAIN}:${SECRET}@crm.example.test/hook`,
  `https://${SECRET}@crm.example.test/hook`,
  `https://crm.example.test/hook?token=${SECRET}&page=${PLAIN}`,
  `https://crm.example.test/hook?page=${PLAIN}&X-Api-Key=${SECRET}`,
  `https://crm.example.test/hook#access_token=${SECRET}`,
  `https://crm.example.test/hook?next=https%3A%2F%2Fa.example.test%3Fsig%3D${SECRET}`,
);
const withScheme = fc.constantFrom(
  `Send Bearer ${SECRET} to ${PLAIN}.`,
  `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----`,
);

/** The value of an innocent name. */
const plainValue = (depth: number): Arbitrary<Json> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Json>(PLAIN) },
    { weight: 2, arbitrary: withCredential },
    { weight: 1, arbitrary: withScheme },
    { weight: 1, arbitrary: fc.constantFrom<Json>([PLAIN, PLAIN], [{ id: PLAIN }], true, 7, '') },
    ...(depth === 0 ? [] : [{ weight: 3, arbitrary: bag(depth - 1) }]),
  );

/** The value of a secret's name. */
const secretValue: Arbitrary<Json> = fc.constantFrom<Json>(NAMED, [NAMED, NAMED], {
  any: NAMED,
  deep: { down: [NAMED] },
});

const pair = fc.oneof(
  secretName.map((key) => ({ key, value: NAMED })),
  plainName.map((key) => ({ key, value: PLAIN })),
  plainName.map((name) => ({ name, value: PLAIN })),
);

const headers = fc.constantFrom<JsonObject>(
  { headers: [{ key: 'X-Any', value: NAMED }] },
  { Headers: { 'X-Any': NAMED } },
  { request_headers: [{ name: 'X-Any', value: NAMED }] },
  { auth_headers: { 'X-Any': NAMED } },
);

/** An object with members of every kind. */
export function bag(depth = 2): Arbitrary<JsonObject> {
  return fc
    .tuple(
      fc.dictionary(plainName, plainValue(depth), { maxKeys: 3 }),
      fc.dictionary(secretName, secretValue, { maxKeys: 2 }),
      fc.option(headers, { nil: {} }),
      fc.option(
        fc.array(pair, { maxLength: 3 }).map((pairs) => ({ settings: pairs })),
        { nil: {} },
      ),
    )
    .map((parts) => Object.assign({}, ...parts));
}

/** An agent: what the configuration may say of it, and what only the platform has. */
export type Odd = { readonly own: JsonObject; readonly theirs: JsonObject };

export const oddAgent: Arbitrary<Odd> = fc
  .record({ config: bag(), options: bag(), arguments: bag(1), unknown: bag(1) })
  .chain((bags) =>
    fc
      .record({
        url: withCredential,
        link: withCredential,
        text: fc.oneof(withCredential, withScheme),
        parameters: fc.uniqueArray(
          pair.filter((one) => 'key' in one),
          {
            selector: (one) => ('key' in one ? one.key.toLowerCase() : ''),
            maxLength: 3,
          },
        ),
        name: secretName,
      })
      .map(({ url, link, text, parameters, name }) => ({
        own: {
          config: bags.config,
          greeting_message: `Ask ${text}`,
          knowledgebase_links: [link],
          integrations: { calendarA: { calendar_name: PLAIN, region_hint: NAMED } },
          extensions: {
            tools: [
              {
                type: 'webhook',
                name: 'crm',
                condition: 'during_call',
                method: 'GET',
                url,
                headers: [{ key: 'X-Any', value: SECRET }],
                parameters,
              },
            ],
            mcp_servers: [
              {
                connection_name: 'calendar',
                mcp_endpoint_url: url,
                transport_type: 'http',
                auth_headers: { 'X-Any': SECRET },
                initialization_options: bags.options,
                pre_answer_calls: [{ tool_name: 'find', arguments: bags.arguments }],
              },
            ],
          },
        },
        theirs: { field_of_tomorrow: bags.unknown, [`new_${name}`]: NAMED },
      })),
  );

/** Gives every value a text of its own: `canary-s-0007-b`. A generation differs from another in all of them. */
export function numbered<T extends Json>(value: T, generation: string, first: number): T;
export function numbered(value: Json, generation: string, first: number): Json {
  let count = first;
  return JSON.parse(
    JSON.stringify(value).replaceAll(/\u00a7([SNP])/g, (_, which: string) => {
      count += 1;
      return `canary-${which.toLowerCase()}-${String(count).padStart(4, '0')}-${generation}`;
    }),
  );
}
