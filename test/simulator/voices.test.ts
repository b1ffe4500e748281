import { FormData } from 'undici';
import { expect } from 'vitest';
import { IDS, locked, section, type World } from './world.ts';

type Clip = { readonly bytes?: number; readonly mime?: string; readonly name?: string };

const clone =
  (fields: Readonly<Record<string, string | undefined>> = {}, clip: Clip | null = {}) =>
  ({ call }: World) => {
    const form = new FormData();
    const values = { name: 'Reception', consent: 'true', organizationId: IDS.harbor, ...fields };
    for (const [name, value] of Object.entries(values))
      if (value !== undefined) form.set(name, value);
    if (clip !== null) {
      const { bytes = 100, mime = 'audio/wav', name = 'clip.wav' } = clip;
      form.set('clip', new Blob([Buffer.alloc(bytes, 1)], { type: mime }), name);
    }
    return call('createCustomVoice', { form });
  };

section('Custom voices', [
  {
    rule: 'a clip becomes a voice',
    does: clone({ description: 'Calm', language: 'fr' }),
    status: 201,
    body: {
      data: {
        id: expect.any(String),
        name: 'Reception',
        description: 'Calm',
        provider: 'cartx',
        custom: true,
        language: 'fr',
      },
    },
    also: ({ sim }) => expect([...sim.store.voices.values()].at(-1)?.clip).toHaveLength(100),
  },
  {
    rule: 'the language is English unless given',
    does: clone(),
    status: 201,
    body: { data: { language: 'en' } },
  },
  {
    rule: 'the type may show in the ending alone',
    does: clone({}, { mime: 'application/octet-stream', name: 'clip.FLAC' }),
    status: 201,
  },
  { rule: 'four megabytes are allowed', does: clone({}, { bytes: 4 * 1024 * 1024 }), status: 201 },
  ...(
    [
      ['consent', clone({ consent: undefined })],
      ['consent', clone({ consent: 'yes' })],
      ['clip', clone({}, null)],
      ['clip', clone({}, { bytes: 0 })],
      ['clip', clone({}, { mime: 'text/plain', name: 'clip.txt' })],
      ['clip', clone({}, { bytes: 4 * 1024 * 1024 + 1 })],
      ['language', clone({ language: 'tlh' })],
      ['name', clone({ name: undefined })],
      ['organizationId', clone({ organizationId: undefined })],
    ] as const
  ).map(([field, does], index) => ({
    rule: `a form is refused for its ${field} (${index})`,
    does,
    status: 400,
    body: { error: 'invalid_request', error_description: expect.stringContaining(field) },
  })),
  {
    rule: 'cloning needs the feature',
    seed: locked('organization', 'custom_voices'),
    does: clone(),
    status: 403,
    body: { error: 'forbidden' },
  },
  {
    rule: 'an organization outside the account is not found',
    does: clone({ organizationId: IDS.nobody }),
    status: 404,
    body: { error: 'not_found' },
  },
  {
    rule: 'a name is unique in its organization',
    does: clone({ name: 'Harbor' }),
    status: 409,
    body: { error: 'conflict' },
  },
  {
    rule: 'cloning can fail upstream',
    does: (world) => {
      world.sim.faults.add({
        operation: 'createCustomVoice',
        status: 502,
        body: { error: 'upstream_failure', error_description: 'Cloning failed' },
      });
      return clone()(world);
    },
    status: 502,
    also: ({ sim }) => expect(sim.store.voices.size).toBe(1),
  },
  {
    rule: 'the list is of one organization',
    does: ({ call }) => call('listCustomVoices', { query: { organizationId: IDS.north } }),
    status: 200,
    body: { data: [] },
  },
  {
    rule: 'the list needs an organization',
    does: ({ call }) => call('listCustomVoices'),
    status: 400,
    body: {
      error: 'invalid_request',
      error_description: expect.stringContaining('organizationId'),
    },
  },
  {
    rule: 'the list of an unknown organization is not found',
    does: ({ call }) => call('listCustomVoices', { query: { organizationId: IDS.nobody } }),
    status: 404,
  },
]);
