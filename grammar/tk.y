/* The grammar. docs/language/text.md shows the same as EBNF for readers.
 *
 * LALR(1) without conflicts; precedence is spelled out in rules, so that after an operand the parser always reduces up to the rule that says
 * what may follow, and "expected ..." lists are short. Actions only call builders (syntax/ast.c).
 *
 * Recovery: a missing ';' is made up (`semi`), so that the next statement is parsed. Otherwise a bad statement is skipped to its ';', '{' or '}',
 * and a bad item to the next item or the next '{'. Tokens come from syntax/feed.c, which closes forgotten brackets.
 */
%code requires {
#include "syntax/parse.h"
}

%define api.pure full
%define api.prefix {tk_}
%define api.value.type union
%define api.location.type {src_span}
%define api.token.prefix {TOK_}
%define parse.error custom
%locations
%param {parse *p}

%code {
#define YYMAXDEPTH MAX_PARSER_STACK
#define YYLLOC_DEFAULT(cur, rhs, n) \
    do { \
        (cur).begin = (n) ? YYRHSLOC(rhs, 1).begin : YYRHSLOC(rhs, 0).end; \
        (cur).end = YYRHSLOC(rhs, n).end; \
    } while (0)

static void tk_error(const src_span *at, parse *p, const char *message);
}

%code provides {
int tk_lex(TK_STYPE *value, src_span *at, parse *p);
/* Name of a token as it is shown to users. */
const char *token_name(int code);
}

%token END 0 "end of file"
%token <const char *> IDENT "identifier"
%token <const char *> TYPE "type name"
%token <int_value> INT "integer"
%token <float_value> FLOAT "number"
%token <const char *> STRING "string"
%token IMPORT "'import'" CONST "'const'" PARAM "'param'" STRUCT "'struct'" FIELD "'field'" FUNC "'func'" EXPORT "'export'" EXTERN "'extern'"
%token KERNEL "'kernel'" LAZY_GRAD "'lazy_grad'" LAZY_DUAL "'lazy_dual'"
%token LET "'let'" VAR "'var'" IF "'if'" ELSE "'else'" FOR "'for'" IN "'in'" WHILE "'while'" STATIC "'static'" SERIAL "'serial'"
%token BREAK "'break'" CONTINUE "'continue'" RETURN "'return'" TRUE "'true'" FALSE "'false'" VEC "'vec'" MAT "'mat'"
%token <const char *> OUT "'out'" INOUT "'inout'" LIMIT "'limit'" INDEPENDENT "'independent'" AS "'as'"
%token ARROW "'->'" POW "'**'" SHL "'<<'" SHR "'>>'" LE "'<='" GE "'>='" EQ "'=='" NE "'!='" LAND "'&&'" LOR "'||'"
%token ADD_ASSIGN "'+='" SUB_ASSIGN "'-='" MUL_ASSIGN "'*='" DIV_ASSIGN "'/='"
/* Operators of C that the language does not have: scanned to be refused with a hint. */
%token INC "'++'" DEC "'--'" OTHER_ASSIGN "compound assignment"

%nterm <ast_item *> item sig
%nterm <const char *> name imported
%nterm <ast_type *> opt_type type base sized_base result
%nterm <type_list> types
%nterm <ast_expr *> opt_value opt_limit expr lor land bor bxor band equality relation shift sum product unary power postfix primary arg
%nterm <expr_list> exprs opt_exprs args opt_args literal_items
%nterm <name_list> names
%nterm <param_list> params param_list members
%nterm <ast_param *> param member
%nterm <ast_dir> dir
%nterm <attr_list> attrs param_attrs
%nterm <ast_attr *> attr
%nterm <stmt_list> block stmts
%nterm <ast_stmt *> stmt if_stmt for_stmt opt_else else_part
%nterm <ast_binop> assign_op own_op

%%

module:
    %empty
  | module item                                 { p->items = item_append(p->items, $2); }
  ;

item:
    IMPORT STRING semi                          { $$ = item_import(p, @$, @2, $2, (src_span){{0, 0, 0}, {0, 0, 0}}, NULL); }
  | IMPORT STRING AS name semi                  { $$ = item_import(p, @$, @2, $2, @4, $4); }
  | CONST name opt_type '=' expr semi           { $$ = item_const(p, @$, @2, $2, $3, $5); }
  | PARAM name ':' type opt_value semi          { $$ = item_param(p, @$, @2, $2, $4, $5); }
  | STRUCT name '{' members '}' opt_semi        { $$ = item_struct(p, @$, @2, $2, $4); }
  | STRUCT name '{' members ',' '}' opt_semi    { $$ = item_struct(p, @$, @2, $2, $4); }
  | STRUCT name '{' error '}' opt_semi          { $$ = NULL; yyerrok; }
  | FIELD name ':' type attrs semi              { $$ = item_field(p, @$, @2, $2, $4, $5); }
  | FUNC sig block                              { $$ = item_function($2, @$, AST_ITEM_FUNC, false, false, $3); }
  | EXPORT FUNC sig block                       { $$ = item_function($3, @$, AST_ITEM_FUNC, true, false, $4); }
  | EXTERN FUNC sig semi                        { $$ = item_function($3, @$, AST_ITEM_FUNC, false, true, (stmt_list){0}); }
  | KERNEL sig block                            { $$ = item_function($2, @$, AST_ITEM_KERNEL, false, false, $3); }
  | KERNEL name '=' imported '(' opt_exprs ')' attrs semi { $$ = item_made(p, @$, @2, $2, @4, $4, $6, $8); }
  | LAZY_GRAD semi                              { $$ = item_lazy(p, @$, AST_ITEM_LAZY_GRAD); }
  | LAZY_DUAL semi                              { $$ = item_lazy(p, @$, AST_ITEM_LAZY_DUAL); }
  | error                                       { $$ = NULL; if (p->cur.first && feed_begins_item(p->cur.code)) { yyerrok; p->stmt_start = p->cur; } }
  | error block                                 { $$ = NULL; }
  ;

/* Words that mean something in one place only stay usable as names. */
name: IDENT | OUT | INOUT | LIMIT | INDEPENDENT | AS;

/* A name of this file, or of one that it imports under a name. */
imported:
    name
  | name '.' name                               { $$ = dotted_name(p, $1, $3); }
  ;

/* A made-up ';' at the end of a line is trusted: what comes next may have errors of its own. */
semi:
    ';'
  | error                                       { if (p->cur.first) { yyerrok; p->stmt_start = p->cur; } }
  | error ';'                                   { yyerrok; }
  ;

/* As after a struct in C. */
opt_semi: %empty | ';';

opt_type:
    %empty                                      { $$ = NULL; }
  | ':' type                                    { $$ = $2; }
  ;

opt_value:
    %empty                                      { $$ = NULL; }
  | '=' expr                                    { $$ = $2; }
  ;

/* ---- types ---- */

type:
    base
  | base '[' exprs ']'                          { $$ = type_array(p, @$, $1, $3); }
  ;

base:
    IDENT                                       { $$ = type_name(p, @$, $1); }
  | IDENT '.' name                              { $$ = type_name(p, @$, dotted_name(p, $1, $3)); }
  | sized_base
  ;

/* The types that an expression may call: a struct's name is an ordinary name there. */
sized_base:
    TYPE                                        { $$ = type_name(p, @$, $1); }
  | VEC '(' expr ',' base ')'                   { $$ = type_vec(p, @$, $3, $5); }
  | MAT '(' expr ',' expr ',' base ')'          { $$ = type_mat(p, @$, $3, $5, $7); }
  ;

types:
    type                                        { $$ = type_append((type_list){0}, $1); }
  | types ',' type                              { $$ = type_append($1, $3); }
  ;

/* ---- functions and kernels ---- */

sig:
    name '(' params ')' result attrs            { $$ = item_signature(p, @1, $1, $3, $5, $6); }
  ;

params:
    %empty                                      { $$ = (param_list){0}; }
  | param_list
  ;

param_list:
    param                                       { $$ = param_append((param_list){0}, $1); }
  | param_list ',' param                        { $$ = param_append($1, $3); }
  ;

param:
    name                                        { $$ = param_new(p, @$, $1, AST_DIR_NONE, NULL, (attr_list){0}); }
  | name ':' dir type param_attrs               { $$ = param_new(p, @$, $1, $3, $4, $5); }
  ;

param_attrs:
    %empty                                      { $$ = (attr_list){0}; }
  | param_attrs attr                            { $$ = attr_append($1, $2); }
  | param_attrs CONST                           { $$ = attr_append($1, attr_new(p, @2, "const", false, (expr_list){0})); }
  ;

dir:
    %empty                                      { $$ = AST_DIR_NONE; }
  | IN                                          { $$ = AST_DIR_IN; }
  | OUT                                         { $$ = AST_DIR_OUT; }
  | INOUT                                       { $$ = AST_DIR_INOUT; }
  ;

result:
    %empty                                      { $$ = NULL; }
  | ARROW type                                  { $$ = $2; }
  | ARROW '(' types ')'                         { $$ = type_tuple(p, @$, $3); }
  ;

attrs:
    %empty                                      { $$ = (attr_list){0}; }
  | attrs attr                                  { $$ = attr_append($1, $2); }
  ;

attr:
    IDENT                                       { $$ = attr_new(p, @$, $1, false, (expr_list){0}); }
  | IDENT '(' opt_exprs ')'                     { $$ = attr_new(p, @$, $1, true, $3); }
  | IDENT '(' own_op ')'                        { $$ = attr_operator(p, @$, $1, $3); }
  ;

/* operator(*): what a program's own functions can be. */
own_op:
    '+'                                         { $$ = AST_ADD; }
  | '-'                                         { $$ = AST_SUB; }
  | '*'                                         { $$ = AST_MUL; }
  | '/'                                         { $$ = AST_DIV; }
  | '%'                                         { $$ = AST_REM; }
  | '@'                                         { $$ = AST_MATMUL; }
  | POW                                         { $$ = AST_POW; }
  | EQ                                          { $$ = AST_EQ; }
  | NE                                          { $$ = AST_NE; }
  | '<'                                         { $$ = AST_LT; }
  | '>'                                         { $$ = AST_GT; }
  | LE                                          { $$ = AST_LE; }
  | GE                                          { $$ = AST_GE; }
  ;

members:
    member                                      { $$ = param_append((param_list){0}, $1); }
  | members ',' member                          { $$ = param_append($1, $3); }
  ;

member:
    name ':' type                               { $$ = param_new(p, @$, $1, AST_DIR_NONE, $3, (attr_list){0}); }
  ;

/* ---- statements ---- */

block:
    '{' stmts '}'                               { $$ = $2; }
  | '{' stmts error '}'                         { $$ = $2; }
  ;

stmts:
    %empty                                      { $$ = (stmt_list){0}; }
  | stmts stmt                                  { $$ = stmt_append($1, $2); }
  ;

stmt:
    LET names opt_type '=' expr semi            { $$ = stmt_let(p, @$, AST_STMT_LET, $2, $3, $5); }
  | LET names opt_type '=' expr ',' exprs semi  { $$ = stmt_let_several(p, @$, AST_STMT_LET, $2, $3, expr_prepend($5, $7)); }
  | VAR names opt_type opt_value semi           { $$ = stmt_let(p, @$, AST_STMT_VAR, $2, $3, $4); }
  | VAR names opt_type '=' expr ',' exprs semi  { $$ = stmt_let_several(p, @$, AST_STMT_VAR, $2, $3, expr_prepend($5, $7)); }
  | expr '=' expr semi                          { $$ = stmt_assign(p, @$, $1, NULL, $3); }
  | expr assign_op expr semi                    { $$ = stmt_assign(p, @$, $1, &$2, $3); }
  | expr ',' exprs '=' exprs semi               { $$ = stmt_assign_several(p, @$, expr_prepend($1, $3), $5); }
  | expr semi                                   { $$ = stmt_expr(p, @$, $1); }
  | if_stmt
  | STATIC if_stmt                              { $$ = stmt_mark($2, @$, AST_MARK_STATIC); }
  | for_stmt
  | STATIC for_stmt                             { $$ = stmt_mark($2, @$, AST_MARK_STATIC); }
  | SERIAL for_stmt                             { $$ = stmt_mark($2, @$, AST_MARK_SERIAL); }
  | INDEPENDENT for_stmt                        { $$ = stmt_mark($2, @$, AST_MARK_INDEPENDENT); }
  | WHILE expr opt_limit block                  { $$ = stmt_while(p, @$, $2, $3, $4); }
  | WHILE error block                           { $$ = NULL; }
  | WHILE error ';'                             { $$ = NULL; yyerrok; }
  | BREAK semi                                  { $$ = stmt_plain(p, @$, AST_STMT_BREAK); }
  | CONTINUE semi                               { $$ = stmt_plain(p, @$, AST_STMT_CONTINUE); }
  | RETURN opt_exprs semi                       { $$ = stmt_return(p, @$, $2); }
  | block                                       { $$ = stmt_block(p, @$, $1); }
  | error ';'                                   { $$ = NULL; yyerrok; }
  | error block                                 { $$ = NULL; }
  ;

names:
    name                                        { $$ = name_append(p, (name_list){0}, $1, @1); }
  | names ',' name                              { $$ = name_append(p, $1, $3, @3); }
  ;

assign_op:
    ADD_ASSIGN                                  { $$ = AST_ADD; }
  | SUB_ASSIGN                                  { $$ = AST_SUB; }
  | MUL_ASSIGN                                  { $$ = AST_MUL; }
  | DIV_ASSIGN                                  { $$ = AST_DIV; }
  ;

if_stmt:
    IF expr block                               { $$ = stmt_if(p, @$, $2, $3, NULL, false); }
  | IF expr block ELSE else_part                { $$ = stmt_if(p, @$, $2, $3, $5, true); }
  | IF error block opt_else                     { $$ = NULL; }
  | IF error ';' opt_else                       { $$ = NULL; yyerrok; }
  ;

opt_else:
    %empty                                      { $$ = NULL; }
  | ELSE else_part                              { $$ = $2; }
  ;

else_part:
    block                                       { $$ = $1.first; }
  | if_stmt
  | STATIC if_stmt                              { $$ = stmt_mark($2, @$, AST_MARK_STATIC); }
  | error ';'                                   { $$ = NULL; yyerrok; }
  ;

for_stmt:
    FOR names IN expr block                     { $$ = stmt_for(p, @$, $2, $4, $5); }
  | FOR error block                             { $$ = NULL; }
  | FOR error ';'                               { $$ = NULL; yyerrok; }
  ;

opt_limit:
    %empty                                      { $$ = NULL; }
  | LIMIT expr                                  { $$ = $2; }
  ;

/* ---- expressions, loosest first ---- */

exprs:
    expr                                        { $$ = expr_append((expr_list){0}, $1); }
  | exprs ',' expr                              { $$ = expr_append($1, $3); }
  ;

/* Pairs of bounds are seen here, so that elsewhere "(a, b)" is an error at its ','; expr_call refuses them for all but ndrange. */
args:
    arg                                         { $$ = expr_append((expr_list){0}, $1); }
  | args ',' arg                                { $$ = expr_append($1, $3); }
  ;

arg:
    expr
  | '(' expr ',' exprs ')'                      { $$ = expr_bounds(p, @$, expr_prepend($2, $4)); }
  ;

opt_args:
    %empty                                      { $$ = (expr_list){0}; }
  | args
  ;

opt_exprs:
    %empty                                      { $$ = (expr_list){0}; }
  | exprs
  ;

expr:
    lor
  | lor '?' expr ':' expr                       { $$ = expr_cond(p, @$, @2, $1, $3, $5); }
  ;

lor:
    land
  | lor LOR land                                { $$ = expr_binary(p, @$, AST_LOR, @2, $1, $3); }
  ;

land:
    bor
  | land LAND bor                               { $$ = expr_binary(p, @$, AST_LAND, @2, $1, $3); }
  ;

bor:
    bxor
  | bor '|' bxor                                { $$ = expr_binary(p, @$, AST_BOR, @2, $1, $3); }
  ;

bxor:
    band
  | bxor '^' band                               { $$ = expr_binary(p, @$, AST_BXOR, @2, $1, $3); }
  ;

band:
    equality
  | band '&' equality                           { $$ = expr_binary(p, @$, AST_BAND, @2, $1, $3); }
  ;

equality:
    relation
  | equality EQ relation                        { $$ = expr_binary(p, @$, AST_EQ, @2, $1, $3); }
  | equality NE relation                        { $$ = expr_binary(p, @$, AST_NE, @2, $1, $3); }
  ;

relation:
    shift
  | relation '<' shift                          { $$ = expr_binary(p, @$, AST_LT, @2, $1, $3); }
  | relation '>' shift                          { $$ = expr_binary(p, @$, AST_GT, @2, $1, $3); }
  | relation LE shift                           { $$ = expr_binary(p, @$, AST_LE, @2, $1, $3); }
  | relation GE shift                           { $$ = expr_binary(p, @$, AST_GE, @2, $1, $3); }
  ;

shift:
    sum
  | shift SHL sum                               { $$ = expr_binary(p, @$, AST_SHL, @2, $1, $3); }
  | shift SHR sum                               { $$ = expr_binary(p, @$, AST_SHR, @2, $1, $3); }
  ;

sum:
    product
  | sum '+' product                             { $$ = expr_binary(p, @$, AST_ADD, @2, $1, $3); }
  | sum '-' product                             { $$ = expr_binary(p, @$, AST_SUB, @2, $1, $3); }
  ;

product:
    unary
  | product '*' unary                           { $$ = expr_binary(p, @$, AST_MUL, @2, $1, $3); }
  | product '/' unary                           { $$ = expr_binary(p, @$, AST_DIV, @2, $1, $3); }
  | product '%' unary                           { $$ = expr_binary(p, @$, AST_REM, @2, $1, $3); }
  | product '@' unary                           { $$ = expr_binary(p, @$, AST_MATMUL, @2, $1, $3); }
  ;

unary:
    power
  | '-' unary                                   { $$ = expr_unary(p, @$, AST_NEG, @1, $2); }
  | '+' unary                                   { $$ = expr_unary(p, @$, AST_PLUS, @1, $2); }
  | '!' unary                                   { $$ = expr_unary(p, @$, AST_LNOT, @1, $2); }
  | '~' unary                                   { $$ = expr_unary(p, @$, AST_BNOT, @1, $2); }
  ;

/* The exponent is a unary: -x**2 is -(x**2), 2**-1 is legal, a**b**c is a**(b**c). */
power:
    postfix
  | postfix POW unary                           { $$ = expr_binary(p, @$, AST_POW, @2, $1, $3); }
  ;

postfix:
    primary
  | postfix '(' opt_args ')'                    { $$ = expr_call(p, @$, @2, $1, $3); }
  | postfix '[' exprs ']'                       { $$ = expr_index(p, @$, @2, $1, $3); }
  | postfix '.' name                            { $$ = expr_member(p, @$, @3, $1, $3); }
  ;

primary:
    name                                        { $$ = expr_name(p, @$, $1); }
  | INT                                         { $$ = expr_int(p, @$, $1); }
  | FLOAT                                       { $$ = expr_float(p, @$, $1); }
  | TRUE                                        { $$ = expr_bool(p, @$, true); }
  | FALSE                                       { $$ = expr_bool(p, @$, false); }
  | STRING                                      { $$ = expr_string(p, @$, $1); }
  | '(' expr ')'                                { $$ = expr_paren($2, @$); }
  | '[' literal_items ']'                       { $$ = expr_literal_list(p, @$, $2); }
  | sized_base '(' opt_exprs ')'                { $$ = expr_typecall(p, @$, @2, $1, $3); }
  ;

literal_items:
    exprs
  | exprs ','
  ;

%%

const char *token_name(int code)
{
    return yysymbol_name(YYTRANSLATE(code));
}

static int yyreport_syntax_error(const yypcontext_t *ctx, parse *p)
{
    yysymbol_kind_t kinds[YYNTOKENS];
    const char *names[YYNTOKENS];
    int n = yypcontext_expected_tokens(ctx, kinds, YYNTOKENS);
    for (int i = 0; i < n; i++)
        names[i] = yysymbol_name(kinds[i]);
    syntax_error(p, names, n);
    return 0;
}

/* Syntax errors go through yyreport_syntax_error; what is left is the parser's stack being full. */
static void tk_error(const src_span *at, parse *p, const char *message)
{
    (void)message;
    if (!p->stopped)
        diag(p->diag, *at, DIAG_NESTING, MAX_NESTING);
    parse_stop(p);
}
