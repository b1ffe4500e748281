import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { identitySegment, type Path } from '../../src/core/path.ts';
import { nameSecrets, openSecrets, type SecretPlace } from '../../src/live/secrets.ts';
import { oddNames } from '../features/writing/export/odd-names.ts';

const AUTH_TOKEN: Path = ['integrations', 'smsProvider', 'auth_token'];

function headerOf(tool: string, header = 'X-Api-Key'): Path {
  return [
    'extensions',
    'tools',
    identitySegment(tool),
    'headers',
    identitySegment(header),
    'value',
  ];
}

function place(own: string, organization: string, more: Partial<SecretPlace> = {}): SecretPlace {
  return {
    address: `agent.${own === '' ? organization : `${organization}_${own}`}`,
    own,
    organization,
    path: AUTH_TOKEN,
    destination: 'smsProvider',
    beside: 'AC1',
    value: undefined,
    ...more,
  };
}

const header = (tool: string, value: string, more: Partial<SecretPlace> = {}) => ({
  path: headerOf(tool),
  destination: 'crm.example.test',
  beside: undefined,
  value,
  ...more,
});

/** The variable of each place, in their order. */
function named(places: readonly SecretPlace[], isTaken?: (name: string) => boolean) {
  const secrets = openSecrets();
  const held = places.map((one) => ({ ...one, secret: secrets.standIn(one) }));
  const names = nameSecrets(held, isTaken);
  return held.map(({ secret }) => names.get(secret.source));
}

describe('variables of secrets', () => {
  test.each<[string, readonly SecretPlace[], readonly string[]]>([
    [
      'one account at a provider is one, whoever has it',
      [place('desk', 'harbor'), place('night', 'harbor'), place('desk', 'elm')],
      ['AGENT_SMS_AUTH_TOKEN', 'AGENT_SMS_AUTH_TOKEN', 'AGENT_SMS_AUTH_TOKEN'],
    ],
    [
      'accounts of organizations are called like these',
      [place('desk', 'harbor'), place('night', 'harbor'), place('desk', 'elm', { beside: 'AC2' })],
      ['AGENT_HARBOR_SMS_AUTH_TOKEN', 'AGENT_HARBOR_SMS_AUTH_TOKEN', 'AGENT_ELM_SMS_AUTH_TOKEN'],
    ],
    [
      'accounts of agents are called like these',
      [place('desk', 'harbor'), place('night', 'harbor', { beside: 'AC2' })],
      ['AGENT_DESK_SMS_AUTH_TOKEN', 'AGENT_NIGHT_SMS_AUTH_TOKEN'],
    ],
    [
      'agents of one name are called like their organizations, too',
      [
        place('desk', 'harbor'),
        place('night', 'harbor', { beside: 'AC2' }),
        place('desk', 'elm', { beside: 'AC3' }),
        place('night', 'elm', { beside: 'AC4' }),
      ],
      [
        'AGENT_HARBOR_DESK_SMS_AUTH_TOKEN',
        'AGENT_HARBOR_NIGHT_SMS_AUTH_TOKEN',
        'AGENT_ELM_DESK_SMS_AUTH_TOKEN',
        'AGENT_ELM_NIGHT_SMS_AUTH_TOKEN',
      ],
    ],
    [
      'an organization with a long name gives the beginning of it',
      [
        place('desk', 'elm_street_legal', header('crm_lookup', 'a')),
        place('desk', 'north', header('crm_lookup', 'b')),
      ],
      ['AGENT_ELM_STREET_CRM_LOOKUP_API_KEY', 'AGENT_NORTH_CRM_LOOKUP_API_KEY'],
    ],
    [
      'what is too long to be called so is numbered',
      [
        place('a_front_desk_with_a_long_name', 'harbor'),
        place('another_front_desk_of_harbor', 'harbor', { beside: 'AC2' }),
      ],
      ['AGENT_SMS_AUTH_TOKEN_1', 'AGENT_SMS_AUTH_TOKEN_2'],
    ],
    [
      'a value that goes to one host in one header is one, whatever sends it',
      [
        place('desk', 'harbor', header('crm_lookup', 'k')),
        place('night', 'elm', header('crm_lookup', 'k')),
        place('night', 'elm', header('crm_note', 'k')),
      ],
      ['AGENT_CRM_LOOKUP_API_KEY', 'AGENT_CRM_LOOKUP_API_KEY', 'AGENT_CRM_LOOKUP_API_KEY'],
    ],
    [
      'another value, host or header is another one',
      [
        place('desk', 'harbor', header('crm', 'k')),
        place('desk', 'harbor', header('crm', 'k', { destination: 'other.example.test' })),
        place('desk', 'harbor', header('crm', 'k', { path: headerOf('crm', 'Accept') })),
        place('night', 'elm', header('crm', 'other')),
      ],
      ['AGENT_CRM_API_KEY_1', 'AGENT_CRM_API_KEY_2', 'AGENT_CRM_ACCEPT', 'AGENT_ELM_CRM_API_KEY'],
    ],
  ])('%s', (_, places, names) => {
    expect(named(places)).toEqual(names);
  });

  test('are none that something else is read from', () => {
    const taken = ['AGENT_SMS_AUTH_TOKEN', 'AGENT_HARBOR_SMS_AUTH_TOKEN'];
    const isTaken = (name: string) => taken.includes(name);
    expect(named([place('desk', 'harbor')], isTaken)).toEqual(['AGENT_DESK_SMS_AUTH_TOKEN']);
  });

  test('are short, their own and the same in any order, whatever the names', () => {
    const odd = fc.record({
      own: oddNames.map((name) => name.toLowerCase().replaceAll(/[^a-z]+/g, '_')),
      organization: fc.constantFrom('harbor', 'elm_street_legal_and_partners_of_the_north'),
      tool: oddNames,
      header: fc.constantFrom('X-Key', 'x-key', 'Weird Key!', 'Accept', '前台'),
      destination: fc.constantFrom('a.example.test', 'b.example.test'),
      value: fc.constantFrom('one', 'two', undefined),
    });
    fc.assert(
      fc.property(fc.array(odd, { maxLength: 30 }), (all) => {
        const places = all.map(({ tool, header: key, ...one }, index) => ({
          ...place(one.own, one.organization),
          ...one,
          address: `agent.a${index}`,
          path: headerOf(tool, key),
        }));
        const names = named(places);
        const same = (a: SecretPlace, b: SecretPlace) =>
          a.value === b.value &&
          a.destination === b.destination &&
          (a.value === undefined
            ? String(a.path) === String(b.path)
            : a.path.at(-2)?.toLowerCase() === b.path.at(-2)?.toLowerCase());
        for (const [i, a] of places.entries()) {
          expect(names[i]).toMatch(/^AGENT_[A-Z0-9_]{1,34}$/);
          for (const [j, b] of places.entries()) expect(names[i] === names[j]).toBe(same(a, b));
        }
        expect(named(places.toReversed())).toEqual(names.toReversed());
      }),
      { seed: 4711, numRuns: 200 },
    );
  });
});
