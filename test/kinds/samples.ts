import type { FieldSchema } from '../../src/core/schema.ts';
import type { Json, JsonObject } from '../../src/core/value.ts';
import { kinds } from '../../src/kinds/index.ts';
import type { SeedDocument } from '../../src/simulator/index.ts';
import { SEED } from '../e2e/clinic.ts';
import { AGENT, AGENT_CHANGED, AGENT_CUT } from './agent-sample.ts';

/** Contents by path. */
type Files = Readonly<Record<string, string | Buffer>>;

/** One resource of a kind on its way through its life. Values are written as in the configuration. */
export type Sample = {
  readonly kind: string;
  readonly title: string;
  /** What the platform has at the start; nothing of the kind unless given. */
  readonly seed?: SeedDocument;
  /** Other resources that it refers to, by section. */
  readonly needs?: JsonObject;
  readonly files?: Files;
  /** As many fields as can be given at once. */
  readonly whole: JsonObject;
  /** The same fields with other values, and other files where those are named. */
  readonly changed: { readonly resource: JsonObject; readonly files?: Files };
  /** With some members of objects and elements of lists taken out. */
  readonly cut?: JsonObject;
  /** With the fields that cannot be left out. */
  readonly least: JsonObject;
};

const WAV = Buffer.from('RIFF\0\0\0\0WAVEfmt \0\0\0\0', 'latin1');

const [organization] = SEED.organizations ?? [];

const AGENT_NEEDS: JsonObject = {
  custom_voices: { needed: { name: 'Needed', clip: 'needed.wav', consent: true } },
  retry_policies: { needed: { name: 'Needed' } },
};

const written: readonly Sample[] = [
  {
    kind: 'agent',
    title: 'made from nothing',
    needs: AGENT_NEEDS,
    files: { 'needed.wav': WAV },
    whole: AGENT,
    changed: { resource: AGENT_CHANGED },
    cut: AGENT_CUT,
    least: { name: 'Sample' },
  },
  {
    kind: 'agent',
    title: 'made in the dashboard, with a registration',
    seed: {
      ...SEED,
      agents: [
        {
          organization_id: organization?.id ?? '',
          name: 'Sample',
          greeting_message: 'Made by hand.',
          echo_detection: true,
          sip_registration_data: {
            sipDomain: 'sip.example.test',
            username: 'sample',
            password: 'canary-stored',
            proxy: 'proxy.example.test',
            port: 5060,
            transport: 'udp',
            subscribe: false,
            authUsername: null,
            did: null,
            sipRoutingHeaderXDestUser: null,
            registrationEnabled: false,
            extension: '100',
          },
        },
      ],
    },
    whole: { name: 'Sample', greeting_message: 'Hello.', sip: { registration_enabled: true } },
    changed: {
      resource: {
        name: 'Sample',
        greeting_message: 'Hello.',
        sip: { registration_enabled: false },
      },
    },
    least: { name: 'Sample' },
  },
  {
    kind: 'retry_policy',
    title: 'with every field',
    whole: {
      name: 'Sample',
      rules: {
        no_answer: { delay_seconds: 900, max_attempts: 3 },
        busy: { delay_seconds: 60, max_attempts: 1 },
      },
      contact_policy: { max_per_day: 2, quiet: { from: '20:00' } },
      on_exhausted: 'notify',
      on_exhausted_target: 'queue-callbacks',
      reschedule_out_of_window: true,
    },
    changed: {
      resource: {
        name: 'Sample',
        rules: { no_answer: { delay_seconds: 600, max_attempts: 3 } },
        contact_policy: { max_per_day: 1, quiet: { from: '21:00' } },
        on_exhausted: 'notify',
        on_exhausted_target: 'queue-others',
        reschedule_out_of_window: false,
      },
    },
    cut: { name: 'Sample', rules: {}, contact_policy: { max_per_day: 1 }, on_exhausted: 'end' },
    least: { name: 'Sample' },
  },
  {
    kind: 'email_template',
    title: 'with every field',
    whole: {
      name: 'Sample',
      subject: 'Your visit on {{date}}',
      body_html: '<p>Hello {{name|there}}</p>\n',
      from_name: 'Harbor Dental',
      status: 'active',
    },
    changed: {
      resource: {
        name: 'Sample renamed',
        subject: 'A visit on {{date}}',
        body_html: '<p>Good day</p>',
        from_name: 'Harbor',
        status: 'draft',
      },
    },
    least: { name: 'Sample renamed' },
  },
  {
    kind: 'sms_template',
    title: 'with every field',
    whole: {
      name: 'Sample',
      message_type: 'sms',
      description: 'Sent a day before.',
      body: 'See you at {{time}}.',
      tags: ['reminder', 'appointment'],
      from_number: '+15550100',
      status: 'active',
    },
    changed: {
      resource: {
        name: 'Sample',
        // Another type replaces the template.
        message_type: 'mms',
        description: 'Sent two days before.',
        body: 'See you.',
        tags: ['appointment'],
        from_number: '+15550199',
        status: 'draft',
      },
    },
    least: { name: 'Sample', message_type: 'mms' },
  },
  {
    kind: 'knowledge_source',
    title: 'a page',
    whole: { url: 'https://harbor.example.test/faq', reingest_after: '7d' },
    // Another address is another source; the old one stays on the platform.
    changed: { resource: { url: 'https://harbor.example.test/questions' } },
    least: { url: 'https://harbor.example.test/questions' },
  },
  {
    kind: 'knowledge_source',
    title: 'a document',
    files: { 'prices.csv': 'check-up,80\n' },
    whole: { file: 'prices.csv' },
    changed: { resource: { file: 'prices.csv' }, files: { 'prices.csv': 'check-up,85\n' } },
    least: { file: 'prices.csv' },
  },
  {
    kind: 'custom_voice',
    title: 'with every field',
    files: { 'sample.wav': WAV },
    whole: {
      name: 'Sample',
      clip: 'sample.wav',
      language: 'en',
      description: 'The voice of the samples.',
      consent: true,
    },
    // A voice cannot be changed: one of another name is made beside it.
    changed: {
      resource: { name: 'Sample again', clip: 'sample.wav', language: 'de', consent: true },
    },
    least: { name: 'Sample again', clip: 'sample.wav', language: 'de', consent: true },
  },
];

/** Of kinds that have none above: every field that can be given, with the first and second of its examples. */
const fromExamples: readonly Sample[] = kinds
  .filter(({ name }) => !written.some(({ kind }) => kind === name))
  .map(({ name, schema }) => {
    const fields = Object.entries<FieldSchema>(schema.properties ?? {}).filter(
      ([, field]) => field.readOnly !== true && field['x-config'] === undefined,
    );
    const example = (nth: number) =>
      Object.fromEntries(
        fields.map(([field, { examples = [] }]) => [field, (examples[nth] ?? examples[0]) as Json]),
      );
    const [whole, resource] = [example(0), example(1)];
    const least = Object.entries(resource).filter(([field]) => schema.required?.includes(field));
    return {
      kind: name,
      title: 'with its examples',
      whole,
      changed: { resource },
      least: Object.fromEntries(least),
    };
  });

export const samples: readonly Sample[] = [...written, ...fromExamples];
