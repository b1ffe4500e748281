import { CallsheetError } from '../../core/errors.ts';
import { isObject } from '../../core/value.ts';
import { textOf } from '../../kinds/answer.ts';
import type { Call } from '../../kinds/kind.ts';
import { formatFigure } from '../../render/read/figures.ts';
import { sanitiseLine } from '../../render/untrusted.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withPlatform } from '../platform-session.ts';
import { show } from '../read/show.ts';

export type SessionFlags = CommonFlags & {
  readonly profile: string;
  readonly user?: string;
  readonly pbx?: boolean;
  readonly claim?: string;
  readonly format: 'text' | 'json';
};

/** `callsheet session`: a session token for an application that embeds an agent. The token is all of stdout. */
export async function session(flags: SessionFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const call = callOf(flags);
  return withPlatform(flags, context, async ({ client }) => {
    const answer = await client.call(call);
    const minted = isObject(answer) ? answer : {};
    const token = textOf(minted, 'token');
    const expires = minted.expires_at ?? null;
    terminal.err(
      `Standard output is a session token: whoever has it can use the session until ${formatFigure(expires, 'time')}. Keep it out of logs.`,
    );
    show(
      flags.format,
      {
        text: () => sanitiseLine(token),
        json: () => ({
          format: 'callsheet-session',
          version: 1,
          data: { token, expires_at: expires },
        }),
      },
      terminal,
    );
    return EXIT.done;
  });
}

function callOf({ profile, user, pbx, claim }: SessionFlags): Call {
  const body = { profile_id: profile, ...(user === undefined ? {} : { user_id: user }) };
  if (pbx !== true) {
    if (claim === undefined) return { operation: 'createSession', body };
    throw new CallsheetError('usage', '--claim is only for --pbx', {
      hint: 'Add --pbx, or leave --claim out.',
    });
  }
  if (claim !== undefined)
    return { operation: 'createPbxSession', body: { ...body, claim_id: claim } };
  throw new CallsheetError('usage', '--pbx needs --claim', {
    hint: 'Give the id of the user base claim at the PBX provider.',
  });
}
