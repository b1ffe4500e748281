import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { ID, TIMESTAMP } from './ids.ts';
import { PBX_KEY } from './seed.ts';
import { answers, expectReply, type Row, reads, section, writes } from './suite.ts';
import type { Reply, World } from './world.ts';

const MINTED = { token: expect.stringMatching(/\S/), expires_at: expect.stringMatching(TIMESTAMP) };

const mint = ({ post }: World, body: JsonObject): Promise<Reply> =>
  post('/api/v1/sessions', { body });

const mintPbx = (
  { post }: World,
  body: JsonObject,
  headers: { readonly [name: string]: string } = { 'x-pbx-api-key': PBX_KEY },
): Promise<Reply> => post('/api/v1/sessions/pbx', { body, headers, authorization: null });

const BODY = { profile_id: ID.profile };
const PBX_BODY = { profile_id: ID.profile, claim_id: ID.claim };

/** The body of a 400 for one field; all four members stand in it where a format is missed. */
const invalid = (path: string, members: object = {}) => ({
  error: 'Invalid request data',
  details: [
    expect.objectContaining({
      code: expect.any(String),
      message: expect.any(String),
      path: [path],
      ...members,
    }),
  ],
});

type Mint = (world: World, body: JsonObject) => Promise<Reply>;

/** Rows for a body's field that is the id of something. */
const idField = (field: string, send: Mint, whole: JsonObject) => [
  reads(
    `${field} is required`,
    answers(
      (world) =>
        send(world, Object.fromEntries(Object.entries(whole).filter(([key]) => key !== field))),
      400,
      invalid(field),
    ),
  ),
  reads(
    `${field} is a UUID, and the refusal names the format`,
    answers(
      (world) => send(world, { ...whole, [field]: 'clinic' }),
      400,
      invalid(field, { validation: 'uuid' }),
    ),
  ),
  reads(`an unknown ${field} is not found`, async (world) => {
    expect((await send(world, { ...whole, [field]: ID.nobody })).status).toBe(404);
  }),
];

export const sessions: readonly Row[] = [
  ...section(
    'Endpoints · Sessions',
    reads(
      'token and end are the whole answer',
      answers((world) => mint(world, BODY), 200, MINTED),
    ),
    reads(
      'a user may be named',
      answers((world) => mint(world, { ...BODY, user_id: 'patient-7' }), 200, MINTED),
    ),
    reads('a session has an end that lies ahead', async (world) => {
      const { expires_at: end } = (await mint(world, BODY)).body;
      expect(Date.parse(String(end))).toBeGreaterThan(Date.now());
    }),
    reads('a user is named in text', async (world) => {
      expectReply(await mint(world, { ...BODY, user_id: 7 }), 400, invalid('user_id'));
    }),
    idField('profile_id', mint, BODY),
    writes('a failure is a 500', async (world) => {
      world.sim.faults.add({ operation: 'createSession', status: 500 });
      expect((await mint(world, BODY)).status).toBe(500);
    }),
  ),
  ...section(
    'Endpoints · Sessions · PBX provider',
    reads(
      'token and end are the whole answer',
      answers((world) => mintPbx(world, PBX_BODY), 200, MINTED),
    ),
    reads(
      'a user may be named',
      answers((world) => mintPbx(world, { ...PBX_BODY, user_id: 'patient-7' }), 200, MINTED),
    ),
    idField('profile_id', mintPbx, PBX_BODY),
    idField('claim_id', mintPbx, PBX_BODY),
    writes('a failure is a 500', async (world) => {
      world.sim.faults.add({ operation: 'createPbxSession', status: 500 });
      expect((await mintPbx(world, PBX_BODY)).status).toBe(500);
    }),
  ),
  ...section(
    'Authentication 8',
    reads('the key of the PBX provider opens its endpoint', async (world) => {
      expectReply(await mintPbx(world, PBX_BODY), 200, MINTED);
    }),
    reads('without the key it stays closed', async (world) => {
      expect((await mintPbx(world, PBX_BODY, {})).status).toBe(401);
    }),
    reads('with another key it stays closed', async (world) => {
      const headers = { 'x-pbx-api-key': 'another' };
      expect((await mintPbx(world, PBX_BODY, headers)).status).toBe(401);
    }),
    reads('a bearer token does not open it', async ({ post }) => {
      expect((await post('/api/v1/sessions/pbx', { body: PBX_BODY })).status).toBe(401);
    }),
    reads('the key opens nothing else', async ({ post }) => {
      const headers = { 'x-pbx-api-key': PBX_KEY };
      const ask = { body: BODY, headers, authorization: null };
      expect((await post('/api/v1/sessions', ask)).status).toBe(401);
    }),
  ),
];
