" Syntax of tkc's kernel language. The word lists are written by tests/tools/editorwords.py.
if exists('b:current_syntax')
  finish
endif

syn keyword tkItem import const param struct field func export extern kernel lazy_grad lazy_dual let var static serial
syn keyword tkControl if else for in while break continue return
syn keyword tkType bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 real vec2 vec3 vec4 ivec2 ivec3 ivec4 mat2 mat3 mat4 vec mat
syn keyword tkAttribute needs_grad needs_dual saved distinct strided soa aos derive no_grad finite grad_for jvp_for operator out inout limit independent as
syn keyword tkFunction abs acos all any asin assert atan atan2 atomic_add atomic_and atomic_max atomic_min atomic_or atomic_sub atomic_xor cbrt ceil clamp cols cos cosh cross determinant diag digamma distance dot erf erfc exp exp2 expm1 floor fract grouped hypot identity inverse isinf isnan len length lgamma log log1p log2 max min mix mod ndrange norm norm_sqr normalized outer_product polar_decompose polar_rotation pow print randn random random_int range round rows rsqrt select sigmoid sign sin sinh smoothstep softplus solve spectral sqrt step stop_grad sum svd svd_rotation sym_eig sym_spectral tan tanh trace transpose trunc
syn keyword tkBoolean true false
syn keyword tkTodo contained TODO FIXME XXX

syn match tkNumber '\<\%(0[xX]\x\+\|0[bB][01]\+\|\d\+\)\>'
syn match tkFloat '\%(\<\d\+\.\d*\|\.\d\+\)\%([eE][+-]\?\d\+\)\?\|\<\d\+[eE][+-]\?\d\+\>'
syn match tkPlane '\.\zs\%(grad\|dual\|shape\)\>'
syn match tkName '\%(\<\%(kernel\|func\|field\|param\|const\|struct\)\s\+\)\@<=\h\w*'
syn match tkEscape contained '\\[ntr"'\\]'
syn region tkString start=+"+ skip=+\\.+ end=+"+ oneline contains=tkEscape
syn match tkComment '//.*$' contains=tkTodo,@Spell
syn match tkDoc '///.*$' contains=tkTodo,@Spell
syn region tkComment start='/\*' end='\*/' contains=tkTodo,@Spell

hi def link tkItem Structure
hi def link tkControl Statement
hi def link tkType Type
hi def link tkAttribute StorageClass
hi def link tkFunction Function
hi def link tkBoolean Boolean
hi def link tkTodo Todo
hi def link tkNumber Number
hi def link tkFloat Float
hi def link tkPlane Special
hi def link tkName Identifier
hi def link tkEscape SpecialChar
hi def link tkString String
hi def link tkComment Comment
hi def link tkDoc SpecialComment

let b:current_syntax = 'tk'
