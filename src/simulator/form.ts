import type { FastifyRequest } from 'fastify';
import type { FormFile } from './platform.ts';

/** A multipart body, read whole. */
type Form = {
  readonly fields: { readonly [name: string]: string };
  readonly files: { readonly [name: string]: FormFile };
};

/** Reads a form. A file is cut off one byte above its limit, which tells that it is too large. */
export async function readForm(request: FastifyRequest): Promise<Form> {
  const fields: { [name: string]: string } = {};
  const files: { [name: string]: FormFile } = {};
  for await (const part of request.parts())
    if (part.type === 'file')
      files[part.fieldname] = {
        name: part.filename,
        mime: part.mimetype,
        bytes: await part.toBuffer(),
      };
    else fields[part.fieldname] = String(part.value);
  return { fields, files };
}
