import type { Answer } from '../answer.ts';
import { missing } from '../answer.ts';
import type { Input, Platform, Routes } from '../platform.ts';
import type { Profile } from '../store.ts';

/** Milliseconds that a session holds. The specification gives no figure. */
const LIFETIME = 60 * 60_000;

/** Tokens for applications that embed an agent (Sessions). */
export const sessions: Routes<'createSession' | 'createPbxSession'> = {
  createSession: (input, platform) => {
    profileOf(platform, input);
    return mint(platform);
  },

  createPbxSession: (input, platform) => {
    const profile = profileOf(platform, input);
    const claim = platform.store.claims.get(String(input.body.claim_id));
    if (claim?.profileId !== profile.id) throw missing('Claim');
    return mint(platform);
  },
};

function profileOf({ store }: Platform, { body }: Input): Profile {
  const profile = store.profiles.get(String(body.profile_id));
  if (profile === undefined) throw missing('Profile');
  return profile;
}

function mint({ ids, now }: Platform): Answer {
  const expires = new Date(now().getTime() + LIFETIME);
  return {
    status: 200,
    body: { token: ids.token('session'), expires_at: expires.toISOString() },
  };
}
