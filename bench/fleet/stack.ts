import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SeedAgent, SeedDocument } from '../../src/simulator/index.ts';
import { promptText, TOWNS } from '../validate/texts.ts';

/**
 * One row of a table an agent, the same with a secret an agent that is not set or with prompts of 100 KB, or a file and a prompt an agent as
 * `callsheet export` writes them.
 */
export type Layout = 'rows' | 'secrets' | 'texts' | 'exported';

/** Agents that a variable of their own changes, at most: an apply of the benchmark changes both. */
export const FEW = 100;
export const CHANGED = 1000;

const ORGANIZATION = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
/** Every platform that is served with a fleet has it from the same day, so that a state fits all of them. */
const MADE = '2026-01-05T08:00:00.000Z';
/** Has variables that are otherwise in one run. */
export const ROUND_FILE = 'round.yaml';

/** How every agent greets, until a run says otherwise. */
const GREETING = 'Thank you for calling';
const PLACE = '${place}';
const TEMPLATE = promptText(0, PLACE);
const LONG_TEMPLATE = Array.from({ length: 25 }, (_, at) => promptText(at, PLACE)).join('\n');

function templateOf(layout: Layout): string {
  return layout === 'texts' ? LONG_TEMPLATE : TEMPLATE;
}

/** MB of the prompts of a fleet whose prompts are long. */
export function textSize(size: number): number {
  return (size * LONG_TEMPLATE.length) / 1e6;
}

/** Changes the template, and all agents with it: to something else in each round. */
export function editTemplate(dir: string, layout: Layout, round: number): void {
  const [first, ...rest] = templateOf(layout).split('\n');
  writeFileSync(join(dir, 'prompt.md'), [first, `This is round ${round}.`, ...rest].join('\n'));
}

type Row = {
  readonly slug: string;
  readonly town: string;
  readonly place: string;
  readonly token: string;
};

function rowOf(index: number): Row {
  const town = TOWNS[index % TOWNS.length] ?? '';
  return { slug: `clinic-${index}`, town, place: `Station ${index}`, token: `SMS_TOKEN_${index}` };
}

/**
 * Writes a fleet as a stack: a row of a table for each agent, with a prompt of 4 KB that no other agent has. The
 * agents that an apply changes stand apart: variables change them alone.
 */
export function writeFleet(dir: string, size: number, layout: Layout): void {
  const [few, changed] = [Math.min(size, FEW), Math.min(size, CHANGED)];
  const parts = [
    { name: 'few', first: 0, end: few },
    { name: 'changed', first: few, end: changed },
    { name: 'settled', first: changed, end: size },
  ].filter(({ first, end }) => end > first);
  writeFileSync(join(dir, 'callsheet.yaml'), stackText());
  writeFileSync(join(dir, 'prompt.md'), templateOf(layout));
  writeFileSync(
    join(dir, 'agents.yaml'),
    `agents:\n${parts.map(({ name }) => block(name) + (layout === 'secrets' ? SECRET : '')).join('')}`,
  );
  for (const { name, first, end } of parts) {
    const rows = Array.from({ length: end - first }, (_, at) => rowOf(first + at));
    const lines = rows.map((row) => `${Object.values(row).join(',')}\n`);
    writeFileSync(join(dir, `${name}.csv`), `slug,town,place,token\n${lines.join('')}`);
  }
}

function stackText(): string {
  return `callsheet: 1
organizations: { group: ${ORGANIZATION} }
organization: group
variables:
  few: { default: ${GREETING} }
  changed: { default: ${GREETING} }
lint: { tokens: [caller_name] }
guards: { max_change_percent: 100 }
`;
}

/** Changes one file of a stack, and one agent with it: to something else in each round, so that no run knows it. */
export function editOne(dir: string, layout: Layout, round: number): void {
  const edit = (file: string, from: RegExp, to: string) => {
    const text = readFileSync(join(dir, file), 'utf8');
    if (!from.test(text)) throw new Error(`${file} has no ${from}`);
    writeFileSync(join(dir, file), text.replace(from, to));
  };
  if (layout === 'rows') edit('few.csv', /Station (?:0|Zero \d+),/, `Station Zero ${round},`);
  else {
    const [file = ''] = readdirSync(join(dir, 'agents')).sort();
    edit(join('agents', file), /How (?:can|may) I help.*/, `How may I help in round ${round}?`);
  }
}

/** Changes one prompt of a stack as `callsheet export` writes it. */
export function editPrompt(dir: string, round: number): void {
  const [file = ''] = readdirSync(join(dir, 'prompts')).sort();
  const path = join(dir, 'prompts', file);
  writeFileSync(path, `${readFileSync(path, 'utf8')}Round ${round}.\n`);
}

function block(name: string): string {
  const isChanged = name !== 'settled';
  return `  ${name}:
    for_each: { $file: ${name}.csv }
    key: \${each.slug}
    name: \${each.town}, \${each.place}
    agent_type: receptionist
    status: active
    model: alpha-4.1-mini
    language: en-US
    timezone: America/New_York
    greeting_message: ${isChanged ? `\${var.${name}}` : GREETING} \${each.place}. How can I help?
    voice_settings: { speed: 1.05 }
    config: { inactivity_timeout: 20 }
    enable_recording: true
    transfer_enabled: true
    system_prompt: { $template: prompt.md, with: { place: "\${each.place}" } }
    extensions:
      tools:
        - type: webhook
          name: crm_lookup
          friendlyName: CRM lookup
          description: Finds a patient by name and date of birth.
          condition: during_call
          method: GET
          url: https://crm.example.test/v1/patients
`;
}

const SECRET = `    integrations:
      smsProvider: { auth_token: { $secret: "env:\${each.token}" } }
`;

/** Builds the seed of a platform that the fleet is live on already. */
export function liveFleet(size: number, layout: Layout = 'rows'): SeedDocument {
  return {
    organizations: [{ id: ORGANIZATION, name: 'Harbor Group' }],
    agents: Array.from({ length: size }, (_, index) => ({
      ...liveAgent(index, layout),
      ...(layout === 'secrets' && { integrations: { smsProvider: { auth_token: 'stored' } } }),
    })),
  };
}

function liveAgent(index: number, layout: Layout): SeedAgent {
  const { town, place } = rowOf(index);
  const digits = index.toString(16).padStart(12, '0');
  return {
    id: `0a9e0000-0000-4000-a000-${digits}`,
    organization_id: ORGANIZATION,
    name: `${town}, ${place}`,
    agent_type: 'receptionist',
    status: 'active',
    model: 'alpha-4.1-mini',
    language: 'en-US',
    timezone: 'America/New_York',
    greeting_message: `${GREETING} ${place}. How can I help?`,
    voice_settings: { speed: 1.05 },
    config: { inactivity_timeout: 20 },
    enable_recording: true,
    transfer_enabled: true,
    system_prompt: templateOf(layout).replaceAll(PLACE, place),
    extensions: {
      tools: [
        {
          type: 'webhook',
          name: 'crm_lookup',
          friendlyName: 'CRM lookup',
          description: 'Finds a patient by name and date of birth.',
          condition: 'during_call',
          method: 'GET',
          url: 'https://crm.example.test/v1/patients',
        },
      ],
    },
    created_at: MADE,
    updated_at: MADE,
  };
}
