"""What identifies people and machines inside a text, by how it looks."""

import re

# The group that is found says what it is.
SECRET = re.compile(
    r"(?P<url>(?<![A-Za-z+.])[A-Za-z][A-Za-z+.]{1,15}://[^\s\"'<>]+|(?<![\w:/<])/{2,3}(?:[^\s/@\"'<>]{1,99}@)?[\w.-]+[.:/][^\s\"'<>]+)"
    r"|(?P<windows>(?<!\w)[A-Za-z]:\\[^\s\"'<>|:;,()]+|(?<![\w\\])\\{1,4}[\w.$-]+\\{1,2}[^\s\"'<>|:;,()]+)"
    r"|(?P<path>(?<![\w/.<\])}~-])(?:~[\w.-]{0,64})?/(?:[^/\n\"'<>|:;]{0,254}[^/\s\"'<>|:;]/)+[^\s/\"'<>|:;,()\[\]]*)"
    r"|(?P<script>(?<![\w.\\/-])[\w.\\/-]+\.pyx?\b(?!\())"
    r"|(?P<mail>(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+)"
    r"|(?P<address>(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)(?:[%:][\w.]+)*"
    r"|(?<![\w:])(?:[\dA-Fa-f]{1,4}:){7}[\dA-Fa-f]{1,4}(?:%\w+)?|(?<![\w:])[fF][dDeE][\dA-Fa-f]{2}:(?::?[\dA-Fa-f]{1,4}){1,7}(?:%\w+)?"
    r"|(?<![\w:])2[\dA-Fa-f]{3}(?::[\dA-Fa-f]{1,4}){0,6}::(?:[\dA-Fa-f]{1,4}(?::[\dA-Fa-f]{1,4}){0,6})?|(?<![\w:])(?:[\dA-Fa-f]{2}:){5}[\dA-Fa-f]{2}(?![\w:]))"
    r"|(?P<host>(?<=\bworker on )[\w.-]+)"
    r"|(?P<secret>\b(?:hf_|gh[pousr]_|github_pat_|glpat-|xox[abp]-|sk-|AKIA|eyJ[\w-]{8,}\.)[\w.-]{12,})"
    r"|(?P<credential>\b\w*(?i:token|secret|passwd|password|api_?key|access_?key|credentials?)[\"']?\s?[=:]\s?[\"']?(?![\d.]+\b)[^\s,;&\"']{8,})"
    r"|(?P<id>(?<![\dA-Fa-f])[\dA-Fa-f]{8}-(?:[\dA-Fa-f]{4}-){3}[\dA-Fa-f]{12}(?![\w-]))"
    r"|(?P<process>\b(?:pid|tid|PID|TID)\s*[=: ]\s*\d+)"
)
# Where a text names a host, the sender of a mail, and the folder of a user: they are replaced wherever they are words then.
HOST = re.compile(
    r"[A-Za-z][A-Za-z+.]{1,15}://(?:[^\s/@\"'<>]{1,99}@)?([\w.-]+)|(?<![\w:/])//(?:[^\s/@\"'<>]{1,99}@)?([\w.-]+)[:/]"
    r"|(?<![\w\\])\\{2,4}([\w.-]+)\\|\bworker on ([\w.-]+)"
)
MAIL = re.compile(r"(?<![\w.+-])([\w.+-]{1,64})@([\w-]+\.[\w.-]+)")
HOME = re.compile(r"(?:/home|/Users|[A-Za-z]:\\Users)[/\\]([^/\\\s\"']+)")
