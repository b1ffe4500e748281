import { expect } from 'vitest';
import { REGISTRATION, SECRETS } from './full-agent.ts';
import { ID } from './ids.ts';
import { answers, coded, expectReply, type Row, reads, section, writes } from './suite.ts';
import { type Reply, record, type World } from './world.ts';

const DESK = `/v1/agents/${ID.desk}`;

const flip = ({ patch }: World, body: unknown, agent: string = ID.desk): Promise<Reply> =>
  patch(`/v1/agents/${agent}/sip/registration`, { body });

/** The registration of the seed's agent, once it is switched off. */
const SWITCHED_OFF = { ...REGISTRATION, registrationEnabled: false };

const invalid = (path: readonly string[]) => ({
  error: 'Invalid request data',
  details: [
    {
      code: expect.any(String),
      expected: expect.any(String),
      received: expect.any(String),
      path,
      message: expect.any(String),
    },
  ],
});

export const sip: readonly Row[] = [
  ...section(
    'Endpoints · SIP registration',
    writes('success and the registration are the whole answer', async (world) => {
      const { status, body } = await flip(world, { registrationEnabled: false });
      expect({ status, members: Object.keys(body).sort(), success: body.success }).toEqual({
        status: 200,
        members: ['data', 'success'],
        success: true,
      });
    }),
    Object.entries(SWITCHED_OFF).map(([field, value]) =>
      writes(`${field} is part of the answer`, async (world) => {
        expect(record(await flip(world, { registrationEnabled: false }))[field]).toEqual(value);
      }),
    ),
    writes('nothing else is', async (world) => {
      const registration = record(await flip(world, { registrationEnabled: false }));
      expect(Object.keys(registration).sort()).toEqual(Object.keys(SWITCHED_OFF).sort());
    }),
    ...[true, false].map((registrationEnabled) =>
      writes(`the flag becomes ${registrationEnabled}`, async (world) => {
        await flip(world, { registrationEnabled: !registrationEnabled });
        await flip(world, { registrationEnabled });
        expect(record(await world.get(DESK)).sip_registration_data).toMatchObject({
          registrationEnabled,
        });
      }),
    ),
    writes('it flips the flag and nothing else', async (world) => {
      const {
        updated_at: _,
        sip_registration_data: sipBefore,
        ...before
      } = record(await world.get(DESK));
      await flip(world, { registrationEnabled: false });
      const {
        updated_at: __,
        sip_registration_data: sipAfter,
        ...after
      } = record(await world.get(DESK));
      expect(after).toEqual(before);
      expect(sipAfter).toEqual({
        ...(typeof sipBefore === 'object' ? sipBefore : {}),
        registrationEnabled: false,
      });
    }),
    writes('the stored password outlives it', async (world) => {
      await flip(world, { registrationEnabled: false });
      expect(world.sim.store.agents.get(ID.desk)?.record.sip_registration_data).toMatchObject({
        password: SECRETS['sip_registration_data.password'],
      });
    }),
    ...['yes', 1, null, {}].map((registrationEnabled) =>
      reads(
        `the flag is a boolean and not ${JSON.stringify(registrationEnabled)}`,
        answers(
          (world) => flip(world, { registrationEnabled }),
          400,
          invalid(['registrationEnabled']),
        ),
      ),
    ),
    reads(
      'the flag is required',
      answers((world) => flip(world, {}), 400, invalid(['registrationEnabled'])),
    ),
    reads('the body is looked at before the registration', async (world) => {
      expect((await flip(world, { registrationEnabled: 'yes' }, ID.bare)).status).toBe(400);
    }),
    ...['username', 'password', 'status'].map((name) =>
      reads(`${name} beside the flag is rejected`, async (world) => {
        const reply = await flip(world, { registrationEnabled: true, [name]: 'other' });
        expectReply(reply, 400, {
          error: 'Invalid request data',
          details: [
            expect.objectContaining({
              code: expect.any(String),
              path: expect.any(Array),
              message: expect.any(String),
            }),
          ],
        });
      }),
    ),
    reads(
      'an agent without a registration is told so',
      answers(
        (world) => flip(world, { registrationEnabled: true }, ID.bare),
        404,
        coded('not_found', /SIP/),
      ),
    ),
    reads(
      'an agent that does not exist is not found',
      answers(
        (world) => flip(world, { registrationEnabled: true }, ID.nobody),
        404,
        coded('not_found', /agent/i),
      ),
    ),
    reads('an agent outside the scope is not found', async ({ patch }) => {
      const ask = { as: 'north-key', body: { registrationEnabled: false } };
      expectReply(await patch(`${DESK}/sip/registration`, ask), 404, coded('not_found'));
    }),
    reads('an agent on another provider is rejected', async (world) => {
      const { status } = await flip(world, { registrationEnabled: true }, ID.elsewhere);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    }),
  ),
];
