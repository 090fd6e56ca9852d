-- One row is something that one fused op computes and that a model may compute by several: what to look for in the sequence of
-- kernels on a stream.
--
-- pattern     VARCHAR  what is computed
-- precedence  INTEGER  where several begin at one kernel, the one with the smallest number is taken
-- expression  VARCHAR  regular expression over the symbols of chain.symbol
FROM (
    VALUES
        ('attention', 1, '[BM]c*(?:[xd]c*)?(?:[alj]c*)*fc*(?:[oxl]c*)*[BM]'),
        ('LayerNorm', 2, 'mc*bc*[px]c*mc*ac*[rq]c*[xd](?:c*x)?(?:c*a)?'),
        ('RMSNorm', 3, 'c?[px]c*mc*ac*(?:r|qc*i?)c*[xd](?:c*x)?'),
        ('rotary embedding', 4, '(?:x[cj]*n[cj]*k[cj]*x[cj]*a[cj]*?){1,2}|x[cj]*x[cj]*b[cj]*x[cj]*x[cj]*a[cj]*k'),
        ('SwiGLU', 5, 'w[cj]*(?:M[cj]*)?x|g[cj]*x[cj]*(?:M[cj]*)?x'),
        ('GeGLU', 6, 'u[cj]*(?:M[cj]*)?x'),
        ('GELU', 7, 'x?c*pc*xc*ac*xc*tc*ac*x(?:c*x)?|[xd]c*yc*ac*x(?:c*x)?'),
        ('softmax', 8, 'hc*bc*ec*sc*d'),
        ('cross entropy', 9, 'hc*b[^MB]{2,16}ec*s[^MB]{0,4}d'),
        ('optimizer', 10, '(?:[xLa]*c*Ac*q[cxdia]*D[c.]{0,2})*[xLa]*c*Ac*q[cxdia]*D|O(?:c*O){2,}')
) AS patterns (pattern, precedence, expression)
